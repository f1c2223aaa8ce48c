// Signing in.

import { Screen } from "../components/screen.tsx";

export default function SignIn() {
  return (
    <Screen title="Sign in">
      <p>Coming.</p>
    </Screen>
  );
}
