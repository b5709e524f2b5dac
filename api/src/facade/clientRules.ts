import { parseUrl } from '@behalf/contracts';
import type { ClientMetadata } from 'oidc-provider';
import { errors } from './oidcProvider.ts';
import { isLocal } from './localRedirect.ts';
import { SCOPE } from './resources.ts';

const MOST_REDIRECTS = 10;
const LONGEST = 2_000;
const SCOPES = new Set(['openid', 'offline_access', SCOPE]);

/**
 * What a client says of itself, from its document or its registration, before the library reads it. Whoever has an address
 * that no web server has is a native application, whether it says so or not; then plain http leads to this machine alone. Scopes
 * that we do not have are left out: clients name whatever they know.
 */
export function readClient(metadata: Record<string, unknown>): void {
  const { redirect_uris: uris, scope, client_name: name } = metadata as ClientMetadata;
  if (Array.isArray(uris)) {
    if (uris.length > MOST_REDIRECTS || !uris.every(isAcceptable)) {
      throw new errors.InvalidRedirectUri();
    }
    metadata['application_type'] = uris.some(isLocal) ? 'native' : 'web';
  }
  if (typeof name === 'string' && name.length > LONGEST) {
    throw new errors.InvalidClientMetadata('client_name is too long');
  }
  if (typeof scope === 'string') {
    metadata['scope'] = scope
      .split(' ')
      .filter((word) => SCOPES.has(word))
      .join(' ');
  }
}

function isAcceptable(uri: unknown): boolean {
  return typeof uri === 'string' && uri.length <= LONGEST && parseUrl(uri) !== undefined;
}
