// Without a locale of the system, a browser may give en-US@posix as its language, which is not valid. uPlot would fail on it when it is
// imported, so this is imported first.

try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  const { locale } = new Intl.NumberFormat().resolvedOptions();
  Object.defineProperty(navigator, "language", { value: locale });
}
