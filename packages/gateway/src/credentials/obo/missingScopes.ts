/** Asked of every provider and never listed among what a token is good for. */
const SIGN_IN_SCOPES = new Set(['openid', 'profile', 'email', 'offline_access']);

/**
 * What was asked for and not granted. Providers list scopes with or without the resource before them, and in letters of
 * their own. `.default` stands for whatever the operator granted: there is nothing to compare.
 */
export function findMissingScopes(
  requested: readonly string[],
  granted: readonly string[] | undefined,
): string[] {
  if (granted === undefined) return [];
  const grantedScopes = new Set(granted.map((scope) => scope.toLowerCase()));
  const grantedNames = new Set([...grantedScopes].map(scopeNameOf));
  return requested.filter((scope) => {
    const text = scope.toLowerCase();
    const name = scopeNameOf(text);
    if (name === '.default' || SIGN_IN_SCOPES.has(text)) return false;
    // A name alone may be of any resource; with a resource before both, it must be the same one.
    return !(grantedScopes.has(name) || (name === text ? grantedNames : grantedScopes).has(text));
  });
}

function scopeNameOf(scope: string): string {
  return scope.slice(scope.lastIndexOf('/') + 1);
}
