import {
  createFinding,
  checkUrlText,
  type Finding,
  type Path,
  type ResourceAuthorizationServer,
} from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import { LOGIN_PROVIDER, type LoginProviderInfo } from './login.ts';
import { isLoginProvider } from './isLoginProvider.ts';
import { isUnencryptedRemote } from './plainHttp.ts';

/** The exchange itself says what they would. */
const unsupportedFields = ['subjectTokenType', 'requestedTokenType', 'actorTokenFile'] as const;

/** What is wrong with an entry of type `id-jag`, besides what is asked of every other. */
export function checkIdJagProvider(
  provider: ProviderSettings,
  path: Path,
  login: LoginProviderInfo | null,
): Finding[] {
  const { resourceServers = [] } = provider;
  const findings = unsupportedFields
    .filter((key) => provider[key] !== undefined)
    .map((key) =>
      createFinding(
        [...path, key],
        'provider_field',
        'is set by the exchange itself for type id-jag',
        'remove it',
      ),
    );
  if (provider.name === LOGIN_PROVIDER) {
    // Users' servers and the token for Graph are exchanged there, and neither has an authorization server in the list.
    const message = 'the entry `login` cannot be of type id-jag';
    findings.push(
      createFinding([...path, 'type'], 'provider_field', message, 'give it a name, for obo.provider'),
    );
  }
  if (provider.subject !== undefined && provider.subject !== 'id_token') {
    findings.push(...checkRefreshTokenSubject(provider, [...path, 'subject'], login));
  }
  if (resourceServers.length === 0) {
    const message = 'type id-jag needs the authorization servers that accept its assertions';
    findings.push(createFinding(path, 'missing', message, 'add resourceServers'));
  }
  resourceServers.forEach((server, index) => {
    const serverPath = [...path, 'resourceServers', index];
    findings.push(...checkResourceServer(server, serverPath));
    if (resourceServers.findIndex(({ issuer }) => issuer === server.issuer) < index) {
      findings.push(
        createFinding([...serverPath, 'issuer'], 'duplicate', 'is listed twice', 'keep one of them'),
      );
    }
  });
  return findings;
}

/** Of every other type: what belongs to this one alone. */
export function checkIdJagOnlyFields(provider: ProviderSettings, path: Path): Finding[] {
  const message = 'is supported for type id-jag only';
  return (['resourceServers', 'subject'] as const)
    .filter((key) => provider[key] !== undefined)
    .map((key) =>
      createFinding([...path, key], 'provider_field', message, 'remove it, or write type: id-jag'),
    );
}

/** A refresh token is good for one client at one place, and whoever else were shown it could use it up. */
function checkRefreshTokenSubject(
  provider: ProviderSettings,
  keyPath: Path,
  login: LoginProviderInfo | null,
): Finding[] {
  const isOwn = provider.clientId === undefined || provider.clientId === login?.clientId;
  if (login && isOwn && isLoginProvider(provider, login.issuer)) return [];
  const message = 'a refresh token can be sent to the login provider only, by the login client';
  return [
    createFinding(
      keyPath,
      'provider_field',
      message,
      'remove issuer, tokenEndpoint and clientId, or write id_token',
    ),
  ];
}

function checkResourceServer(server: ResourceAuthorizationServer, serverPath: Path): Finding[] {
  const { clientSecret, certificateFile, privateKeyFile, clientAuth } = server;
  const findings = [...checkEmptyServerTexts(server, serverPath), ...checkUrls(server, serverPath)];
  if (certificateFile !== undefined && privateKeyFile === undefined) {
    findings.push(
      createFinding(
        serverPath,
        'missing',
        'a certificateFile needs its privateKeyFile',
        'add privateKeyFile',
      ),
    );
  }
  if (clientSecret !== undefined && privateKeyFile !== undefined) {
    const message = 'more than one of clientSecret and privateKeyFile';
    findings.push(createFinding(serverPath, 'client_credential', message, 'keep one of them'));
  }
  if (clientSecret === undefined && privateKeyFile === undefined) {
    // Whoever holds an assertion could be a client that proves nothing.
    const message = 'needs a client credential';
    findings.push(
      createFinding(serverPath, 'client_credential', message, 'add privateKeyFile or clientSecret'),
    );
  }
  const requiredKey = clientAuth === 'private_key_jwt' ? 'privateKeyFile' : 'clientSecret';
  if (clientAuth !== undefined && server[requiredKey] === undefined) {
    const path = [...serverPath, 'clientAuth'];
    findings.push(
      createFinding(path, 'client_credential', `needs a ${requiredKey}`, `add ${requiredKey}, or remove it`),
    );
  }
  return findings;
}

function checkEmptyServerTexts(server: ResourceAuthorizationServer, serverPath: Path): Finding[] {
  return Object.entries(server)
    .filter(([, value]) => value === '')
    .map(([key]) =>
      createFinding([...serverPath, key], 'missing', 'is empty', 'set the variable, or remove the key'),
    );
}

function checkUrls(server: ResourceAuthorizationServer, serverPath: Path): Finding[] {
  return (['issuer', 'tokenEndpoint'] as const).flatMap((key) => {
    const text = server[key];
    if (text === undefined || text === '') return [];
    const problem = checkUrlText(text, ['https:', 'http:']);
    if (problem) return [createFinding([...serverPath, key], 'url', problem)];
    if (!isUnencryptedRemote(text)) return [];
    const message = 'must use https: users’ assertions and the client’s credential are sent there';
    return [createFinding([...serverPath, key], 'plain_http', message, 'use https, or a loopback address')];
  });
}
