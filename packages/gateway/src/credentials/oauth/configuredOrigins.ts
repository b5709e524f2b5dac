import { listEndpointOrigins, findIssuerEntry, type IssuerSettings } from './issuerSettings.ts';
import { isSafeUrl, getOrigin } from './safeUrl.ts';
import type { SignInTarget } from './signInTarget.ts';

/**
 * The origins that the operator opened for this server: its own, and where its authorization server is as far as the definition or
 * `mcpSettings.issuers` writes that down. `issuer`: the one that is asked; null: the server alone. Whatever the server or its
 * authorization server names besides is somebody else's word, and must not lead to an address that was opened for this one.
 */
export function listConfiguredOrigins(
  target: SignInTarget,
  issuerSettings: IssuerSettings,
  issuer: string | null,
): readonly string[] {
  const serverOrigin = getOrigin(target.url);
  if (issuer === null) return [serverOrigin];
  const { oauth, isOperatorDefined } = target;
  const definitionUrls = isOperatorDefined
    ? [oauth.issuer, oauth.authorizationUrl, oauth.tokenUrl, oauth.revocationUrl]
    : [];
  const issuerEntryUrls = findIssuerEntry(issuerSettings, issuer)
    ? [issuer, ...listEndpointOrigins(issuerSettings, issuer)]
    : [];
  return [serverOrigin, ...[...definitionUrls, ...issuerEntryUrls].filter(isSafeUrl).map(getOrigin)];
}
