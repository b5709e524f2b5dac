/** Asked of every provider and never listed among what a token is good for. */
const ABOUT_SIGN_IN = new Set(['openid', 'profile', 'email', 'offline_access']);

/**
 * What was asked for and not granted. Providers list scopes with or without the resource before them, and in letters of
 * their own. `.default` stands for whatever the operator granted: there is nothing to compare.
 */
export function missingScopes(asked: readonly string[], granted: readonly string[] | undefined): string[] {
  if (granted === undefined) return [];
  const whole = new Set(granted.map((scope) => scope.toLowerCase()));
  const bare = new Set([...whole].map(bareName));
  return asked.filter((scope) => {
    const text = scope.toLowerCase();
    const name = bareName(text);
    if (name === '.default' || ABOUT_SIGN_IN.has(text)) return false;
    // A name alone may be of any resource; with a resource before both, it must be the same one.
    return !(whole.has(name) || (name === text ? bare : whole).has(text));
  });
}

function bareName(scope: string): string {
  return scope.slice(scope.lastIndexOf('/') + 1);
}
