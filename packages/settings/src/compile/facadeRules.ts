import {
  finding,
  isLoopbackHost,
  parseUrl,
  urlProblem,
  type AuthorizationServer,
  type Finding,
} from '@behalf/contracts';
import type { LoginFacts } from '../obo/login.ts';
import { isReadable } from '../obo/plainHttp.ts';

const SECTION = 'authorizationServer';

/** Everything that is wrong with the section of our own authorization server, its variables filled in. */
export function facadeRules(
  { clients, idJagIssuers, idJagTenants }: Readonly<AuthorizationServer>,
  login: LoginFacts | null,
): Finding[] {
  return [
    ...Object.entries(clients).flatMap(([id, client]) => clientRules(id, client)),
    ...idJagIssuers.flatMap((issuer, index) => issuerRules(issuer, [SECTION, 'idJagIssuers', index], login)),
    ...Object.keys(idJagTenants).flatMap((issuer) => {
      const path = [SECTION, 'idJagTenants', issuer];
      if (!idJagIssuers.includes(issuer)) {
        return [
          finding(path, 'unknown_issuer', 'is not among idJagIssuers', 'add it there, or remove it here'),
        ];
      }
      if (issuer !== login?.issuer) return [];
      const message = 'is where people sign in: their tenant follows from OPENID_TENANT_CLAIM';
      return [finding(path, 'not_allowed', message, 'remove it')];
    }),
  ];
}

function clientRules(
  id: string,
  { redirectUris, clientSecret }: AuthorizationServer['clients'][string],
): Finding[] {
  const path = [SECTION, 'clients', id];
  if (clientSecret === '') {
    return [finding([...path, 'clientSecret'], 'missing', 'is empty', 'set the variable, or remove the key')];
  }
  if (redirectUris.length === 0 && clientSecret === undefined) {
    const message = 'a client without redirectUris and without a clientSecret can do nothing';
    return [finding(path, 'missing', message, 'add redirectUris, or a clientSecret for idJagIssuers')];
  }
  return redirectUris.flatMap((uri, index) => {
    const url = parseUrl(uri);
    const isPlain = url?.protocol === 'http:' && !isLoopbackHost(url.hostname);
    if (url && !isPlain && !uri.includes('#')) return [];
    const at = [...path, 'redirectUris', index];
    return [finding(at, 'url', 'must be an address over https, or of this machine, without a fragment')];
  });
}

function issuerRules(issuer: string, path: Finding['path'], login: LoginFacts | null): Finding[] {
  const problem = urlProblem(issuer, ['https:', 'http:']);
  if (problem) return [finding(path, 'url', problem)];
  if (isReadable(issuer)) {
    const message = 'must be https: its keys decide who somebody is';
    return [finding(path, 'plain_http', message, 'write https, or an address of loopback')];
  }
  if (login) return [];
  const message = 'needs the rules for accounts of an identity provider';
  return [finding(path, 'missing', message, 'set OPENID_ISSUER and what belongs to it')];
}
