const LONGEST = 1_024;

/**
 * Where a login leads back to: a path of ours, else the home page. Browsers read `//host`, `/\host` and a path with a
 * tab or line break in it as another site's.
 */
export function returnPath(asked: string | undefined): string {
  const isOurs =
    asked !== undefined && asked.length <= LONGEST && /^\/(?![/\\])[^\\\p{C}\s]*$/u.test(asked) && asked;
  return isOurs || '/';
}
