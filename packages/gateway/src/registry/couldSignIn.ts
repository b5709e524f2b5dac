import { isKeyHeader } from './keyHeader.ts';
import { declaredVariables, usesObo } from './scope.ts';
import type { ServerSnapshot } from './server.ts';

/**
 * Whether a refusal by this server may mean "sign in first". So it is when the file says that users sign in there, and
 * also when nothing is said and the server is given no credential of any kind: a key that it refuses is a wrong key.
 */
export function couldSignIn({ settings }: ServerSnapshot): boolean {
  if (settings.type === 'stdio' || usesObo(settings)) return false;
  if (settings.requiresOAuth !== undefined) return settings.requiresOAuth;
  if (settings.oauth) return true;
  if (settings.apiKey || declaredVariables(settings).length > 0) return false;
  return !Object.entries(settings.headers).some(([name, value]) => isKeyHeader(name, value));
}
