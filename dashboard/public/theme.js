// Before the first paint, so that a reader who chose dark never sees a white page flash by.
try {
  const theme = localStorage.getItem("rekindle.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme is taken.
}
