import { isMicrosoftAuthority } from '@behalf/settings';

/**
 * Where an authorization server really is: one goes by several names. Its path says nothing (`/common`, `/<tenant>`), a dot at the
 * end of its host is the same host, and Entra answers under hosts of its own choice.
 */
export function toIssuerLocation(url: string): string {
  if (isMicrosoftAuthority(url)) return 'entra';
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname.replace(/\.$/, '')}:${port}`;
}
