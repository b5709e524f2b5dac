import { parseUrl } from '@behalf/contracts';
import type { Template } from '@behalf/settings';
import { usesClientCredentialsGrant } from '../../registry/scope.ts';
import type { ServerSnapshot } from '../../registry/server.ts';

/**
 * Where a definition says that its authorization server is. Field by field: that one of them waits for a user's value makes the others
 * no less written down, and of an address only its origin counts.
 */
export function listConfiguredIssuers({ settings: { oauth } }: ServerSnapshot): string[] {
  if (!oauth) return [];
  const { issuer, authorization_url, token_url, revocation_endpoint } = oauth;
  const origins = [authorization_url, token_url, revocation_endpoint].map(getTemplateOrigin);
  return [issuer, ...origins].filter((url) => url !== undefined);
}

/** Whether only the server itself can say who its authorization server is. */
export function requiresIssuerDiscovery({ settings }: ServerSnapshot): boolean {
  const { issuer, token_url, authorization_url } = settings.oauth ?? {};
  if (issuer !== undefined) return false;
  return (
    token_url === undefined || (authorization_url === undefined && !usesClientCredentialsGrant(settings))
  );
}

/** Undefined where the host itself depends on a value. */
function getTemplateOrigin(template: Template | undefined): string | undefined {
  if (template === undefined) return undefined;
  const firstPlaceholder = template.findIndex(({ kind }) => kind !== 'literal');
  const literal = (firstPlaceholder === -1 ? template : template.slice(0, firstPlaceholder))
    .map((part) => (part.kind === 'literal' ? part.text : ''))
    .join('');
  // The slash after the host: before it more of the host may follow.
  const urlPrefix = firstPlaceholder === -1 ? literal : /^[^/]*\/\/[^/?#]+[/?#]/.exec(literal)?.[0];
  return urlPrefix === undefined ? undefined : parseUrl(urlPrefix)?.origin;
}
