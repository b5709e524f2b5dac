const MAX_LENGTH = 1_024;

/**
 * Where a login leads back to: a path of ours, else the home page. Browsers read `//host`, `/\host` and a path with a
 * tab or line break in it as another site's.
 */
export function toReturnPath(requested: string | undefined): string {
  const ownPath =
    requested !== undefined &&
    requested.length <= MAX_LENGTH &&
    /^\/(?![/\\])[^\\\p{C}\s]*$/u.test(requested) &&
    requested;
  return ownPath || '/';
}
