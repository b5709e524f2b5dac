import {
  finding,
  urlProblem,
  type Finding,
  type Path,
  type ResourceAuthorizationServer,
} from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import { LOGIN, type LoginFacts } from './login.ts';
import { isAtLogin } from './loginPlace.ts';
import { isReadable } from './plainHttp.ts';

/** The exchange itself says what they would. */
const notForIdJag = ['subjectTokenType', 'requestedTokenType', 'actorTokenFile'] as const;

/** What is wrong with an entry of type `id-jag`, besides what is asked of every other. */
export function idJagRules(provider: ProviderSettings, path: Path, login: LoginFacts | null): Finding[] {
  const { resourceServers = [] } = provider;
  const findings = notForIdJag
    .filter((key) => provider[key] !== undefined)
    .map((key) =>
      finding(
        [...path, key],
        'provider_field',
        'is said by the exchange itself for type id-jag',
        'remove it',
      ),
    );
  if (provider.name === LOGIN) {
    // Users' servers and the token for Graph are exchanged there, and neither has an authorization server in the list.
    const message = 'the entry `login` cannot be of type id-jag';
    findings.push(finding([...path, 'type'], 'provider_field', message, 'give it a name, for obo.provider'));
  }
  if (provider.subject !== undefined && provider.subject !== 'id_token') {
    findings.push(...refreshTokenRules(provider, [...path, 'subject'], login));
  }
  if (resourceServers.length === 0) {
    const message = 'type id-jag needs the authorization servers that take its assertions';
    findings.push(finding(path, 'missing', message, 'add resourceServers'));
  }
  resourceServers.forEach((server, index) => {
    const at = [...path, 'resourceServers', index];
    findings.push(...serverRules(server, at));
    if (resourceServers.findIndex(({ issuer }) => issuer === server.issuer) < index) {
      findings.push(finding([...at, 'issuer'], 'duplicate', 'is in the list already', 'keep one of them'));
    }
  });
  return findings;
}

/** Of every other type: what belongs to this one alone. */
export function notOfIdJag(provider: ProviderSettings, path: Path): Finding[] {
  const message = 'has a meaning for type id-jag alone';
  return (['resourceServers', 'subject'] as const)
    .filter((key) => provider[key] !== undefined)
    .map((key) => finding([...path, key], 'provider_field', message, 'remove it, or write type: id-jag'));
}

/** A refresh token is good for one client at one place, and whoever else were shown it could use it up. */
function refreshTokenRules(provider: ProviderSettings, at: Path, login: LoginFacts | null): Finding[] {
  const isOwn = provider.clientId === undefined || provider.clientId === login?.clientId;
  if (login && isOwn && isAtLogin(provider, login.issuer)) return [];
  const message =
    'a refresh token can be shown to the provider of the sign-in alone, by the client of the sign-in';
  return [
    finding(at, 'provider_field', message, 'remove issuer, tokenEndpoint and clientId, or write id_token'),
  ];
}

function serverRules(server: ResourceAuthorizationServer, at: Path): Finding[] {
  const { clientSecret, certificateFile, privateKeyFile, clientAuth } = server;
  const findings = [...emptyTexts(server, at), ...placeRules(server, at)];
  if (certificateFile !== undefined && privateKeyFile === undefined) {
    findings.push(finding(at, 'missing', 'a certificateFile needs its privateKeyFile', 'add privateKeyFile'));
  }
  if (clientSecret !== undefined && privateKeyFile !== undefined) {
    const message = 'more than one of clientSecret and privateKeyFile';
    findings.push(finding(at, 'client_credential', message, 'keep one of them'));
  }
  if (clientSecret === undefined && privateKeyFile === undefined) {
    // Whoever holds an assertion could be a client that proves nothing.
    const message = 'needs a credential of the client';
    findings.push(finding(at, 'client_credential', message, 'add privateKeyFile or clientSecret'));
  }
  const wanted = clientAuth === 'private_key_jwt' ? 'privateKeyFile' : 'clientSecret';
  if (clientAuth !== undefined && server[wanted] === undefined) {
    const path = [...at, 'clientAuth'];
    findings.push(finding(path, 'client_credential', `needs a ${wanted}`, `add ${wanted}, or remove it`));
  }
  return findings;
}

function emptyTexts(server: ResourceAuthorizationServer, at: Path): Finding[] {
  return Object.entries(server)
    .filter(([, value]) => value === '')
    .map(([key]) => finding([...at, key], 'missing', 'is empty', 'set the variable, or remove the key'));
}

function placeRules(server: ResourceAuthorizationServer, at: Path): Finding[] {
  return (['issuer', 'tokenEndpoint'] as const).flatMap((key) => {
    const text = server[key];
    if (text === undefined || text === '') return [];
    const problem = urlProblem(text, ['https:', 'http:']);
    if (problem) return [finding([...at, key], 'url', problem)];
    if (!isReadable(text)) return [];
    const message = 'must be https: users’ assertions and the client’s proof are sent there';
    return [finding([...at, key], 'plain_http', message, 'write https, or an address of loopback')];
  });
}
