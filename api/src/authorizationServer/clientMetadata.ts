import { parseUrl } from '@behalf/contracts';
import type { ClientMetadata } from 'oidc-provider';
import { errors } from './oidcProvider.ts';
import { isLocalRedirect } from './localRedirect.ts';
import { MCP_SCOPE } from './resources.ts';

const MAX_REDIRECT_URIS = 10;
const MAX_LENGTH = 2_000;
const SCOPES = new Set(['openid', 'offline_access', MCP_SCOPE]);

/**
 * What a client says of itself, from its document or its registration, before the library reads it. Whoever has an address
 * that no web server has is a native application, whether it says so or not; then plain http leads to this machine alone. Scopes
 * that we do not have are left out: clients name whatever they know.
 */
export function normalizeClientMetadata(metadata: Record<string, unknown>): void {
  const { redirect_uris: uris, scope, client_name: name } = metadata as ClientMetadata;
  if (Array.isArray(uris)) {
    if (uris.length > MAX_REDIRECT_URIS || !uris.every(isValidRedirectUri)) {
      throw new errors.InvalidRedirectUri();
    }
    metadata['application_type'] = uris.some(isLocalRedirect) ? 'native' : 'web';
  }
  if (typeof name === 'string' && name.length > MAX_LENGTH) {
    throw new errors.InvalidClientMetadata('client_name is too long');
  }
  if (typeof scope === 'string') {
    metadata['scope'] = scope
      .split(' ')
      .filter((word) => SCOPES.has(word))
      .join(' ');
  }
}

function isValidRedirectUri(uri: unknown): boolean {
  return typeof uri === 'string' && uri.length <= MAX_LENGTH && parseUrl(uri) !== undefined;
}
