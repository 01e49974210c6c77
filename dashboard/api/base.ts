/** The path below which the service is reached, `/rekindle` say, when PUBLIC_URL has one. */

let basePath = "";

/** Sets the path, once, before anything is asked for. @param path from the document; empty for none */
export function setBasePath(path: string): void {
  basePath = path;
}

/** The address of a path of the service, for requests and for links that the router does not make. */
export function below(path: string): string {
  return basePath + path;
}
