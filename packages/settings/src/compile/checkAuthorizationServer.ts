import {
  createFinding,
  isLoopbackHost,
  parseUrl,
  checkUrlText,
  type AuthorizationServer,
  type Finding,
} from '@behalf/contracts';
import type { LoginProviderInfo } from '../obo/login.ts';
import { isUnencryptedRemote } from '../obo/plainHttp.ts';

const SECTION = 'authorizationServer';

/** Validates the section of the gateway's own authorization server, after variable substitution. */
export function checkAuthorizationServer(
  { clients, idJagIssuers, idJagTenants }: Readonly<AuthorizationServer>,
  login: LoginProviderInfo | null,
): Finding[] {
  return [
    ...Object.entries(clients).flatMap(([id, client]) => checkClient(id, client)),
    ...idJagIssuers.flatMap((issuer, index) => checkIssuer(issuer, [SECTION, 'idJagIssuers', index], login)),
    ...Object.keys(idJagTenants).flatMap((issuer) => {
      const path = [SECTION, 'idJagTenants', issuer];
      if (!idJagIssuers.includes(issuer)) {
        return [
          createFinding(
            path,
            'unknown_issuer',
            'is not among idJagIssuers',
            'add it there, or remove it here',
          ),
        ];
      }
      if (issuer !== login?.issuer) return [];
      const message = 'is the login issuer: its tenants come from OPENID_TENANT_CLAIM';
      return [createFinding(path, 'not_allowed', message, 'remove it')];
    }),
  ];
}

function checkClient(
  id: string,
  { redirectUris, clientSecret }: AuthorizationServer['clients'][string],
): Finding[] {
  const path = [SECTION, 'clients', id];
  if (clientSecret === '') {
    return [
      createFinding([...path, 'clientSecret'], 'missing', 'is empty', 'set the variable, or remove the key'),
    ];
  }
  if (redirectUris.length === 0 && clientSecret === undefined) {
    const message = 'a client needs redirectUris or a clientSecret';
    return [createFinding(path, 'missing', message, 'add redirectUris, or a clientSecret for idJagIssuers')];
  }
  return redirectUris.flatMap((uri, index) => {
    const url = parseUrl(uri);
    const isPlainHttp = url?.protocol === 'http:' && !isLoopbackHost(url.hostname);
    if (url && !isPlainHttp && !uri.includes('#')) return [];
    const uriPath = [...path, 'redirectUris', index];
    return [createFinding(uriPath, 'url', 'must be an https or loopback address without a fragment')];
  });
}

function checkIssuer(issuer: string, path: Finding['path'], login: LoginProviderInfo | null): Finding[] {
  const problem = checkUrlText(issuer, ['https:', 'http:']);
  if (problem) return [createFinding(path, 'url', problem)];
  if (isUnencryptedRemote(issuer)) {
    const message = 'must use https: its keys authenticate users';
    return [createFinding(path, 'plain_http', message, 'use https, or a loopback address')];
  }
  if (login) return [];
  const message = 'requires an identity provider for accounts';
  return [createFinding(path, 'missing', message, 'set OPENID_ISSUER and the related variables')];
}
