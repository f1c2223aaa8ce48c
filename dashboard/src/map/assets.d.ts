// Files that the build copies beside the bundle; the import is their path, relative to it.

declare module "world-atlas/countries-50m.json" {
  const path: string;
  export default path;
}

declare module "world-atlas/countries-110m.json" {
  const path: string;
  export default path;
}
