const MAX_LENGTH = 1_024;

/**
 * The path to which the browser returns after a login. Everything but a local path becomes the home page (open redirect):
 * browsers interpret `//host`, `/\host`, and a path with a tab or line break as the address of another site.
 */
export function toReturnPath(requested: string | undefined): string {
  if (requested === undefined || requested.length > MAX_LENGTH) return '/';
  return /^\/(?![/\\])[^\\\p{C}\s]*$/u.test(requested) ? requested : '/';
}
