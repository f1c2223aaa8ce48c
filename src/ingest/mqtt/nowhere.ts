// Where the embedded broker sends what was published: nowhere. Aedes hands every message to an emitter, which knows who has
// subscribed; nobody has.

type Done = (error?: Error) => void;

export const NOWHERE = {
  on(_topic: string, _listener: unknown, done?: Done): void {
    done?.();
  },
  removeListener(_topic: string, _listener: unknown, done?: Done): void {
    done?.();
  },
  emit(_packet: unknown, done?: Done): void {
    done?.();
  },
  close(done?: Done): void {
    done?.();
  },
};
