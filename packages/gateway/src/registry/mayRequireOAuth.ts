import { isCredentialHeader } from './credentialHeader.ts';
import { listDeclaredVariables, usesObo, usesClientCredentialsGrant } from './scope.ts';
import type { ServerSnapshot } from './server.ts';

/**
 * Whether a refusal by this server may mean "sign in first". So it is when the file says that users sign in there, and
 * also when nothing is said and the server is given no credential of any kind: a key that it refuses is a wrong key.
 */
export function mayRequireOAuth({ settings }: Pick<ServerSnapshot, 'settings'>): boolean {
  if (settings.type === 'stdio' || usesObo(settings) || usesClientCredentialsGrant(settings)) return false;
  // A token ends while a socket stays open, and no request on it could carry the next one.
  if (settings.type === 'websocket') return false;
  if (settings.requiresOAuth !== undefined) return settings.requiresOAuth;
  if (settings.auth === 'none') return false;
  if (settings.oauth) return true;
  if (settings.apiKey || listDeclaredVariables(settings).length > 0) return false;
  return !Object.entries(settings.headers).some(([name, value]) => isCredentialHeader(name, value));
}
