import { findMicrosoftCloud } from '@behalf/settings';

/** Issuers of version 1 tokens, which serve no version 2.0 endpoints, and who does in their place. */
const v2Hosts: Readonly<Record<string, string>> = {
  'sts.windows.net': 'login.microsoftonline.com',
  'sts.microsoftonline.us': 'login.microsoftonline.us',
  'sts.chinacloudapi.cn': 'login.partner.microsoftonline.cn',
};

/**
 * Whether an issuer is Entra: one of the hosts known as such. A suffix would let whoever has a name below it decide which
 * request shape, and with it which client secret, goes there. Hosts of customers' own (`*.b2clogin.com`, `*.ciamlogin.com`,
 * custom domains) are declared with an `authority` instead.
 */
export function isMicrosoftIssuer(issuer: string): boolean {
  return findMicrosoftCloud(issuer) !== undefined;
}

/** The authority behind an issuer or an authority as written: no version, no slash at the end. */
export function entraAuthority(configured: string): string {
  const url = new URL(configured);
  // National clouds issue version 1 tokens under the first name too: they need an `authority`.
  url.host = v2Hosts[url.host] ?? url.host;
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v2\.0$/, '');
  return `${url.origin}${path}`;
}

export function entraTokenEndpoint(authority: string): string {
  return `${authority}/oauth2/v2.0/token`;
}
