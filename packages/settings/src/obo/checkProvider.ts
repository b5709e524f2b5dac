import {
  type Finding,
  type Path,
  type ResourceAuthorizationServer,
  checkUrlText,
  createFinding,
  originOf,
} from '@behalf/contracts';
import type { ProviderSettings } from '../compile/textCompiler.ts';
import { LOGIN_PROVIDER, type LoginProviderInfo, isLoginProvider, isMicrosoftAuthority } from './login.ts';
import { isUnencryptedRemote } from './plainHttp.ts';

const endpoints = ['issuer', 'authority', 'tokenEndpoint'] as const;
/** MSAL chooses these values itself. */
const unsupportedByEntra = [
  'tokenEndpoint',
  'clientAuth',
  'clientAssertionAudience',
  'parameters',
  'subjectTokenType',
  'requestedTokenType',
  'actorTokenFile',
  'dpop',
] as const;
const tokenExchangeFields = ['subjectTokenType', 'requestedTokenType', 'actorTokenFile'] as const;
/**
 * Form fields of the exchanges. `parameters` may not set them: a value would be sent whenever the exchange omits the
 * field, and ignored otherwise.
 */
const RESERVED =
  /^(grant_type|assertion|subject_token.*|actor_token.*|requested_token_type|client_.*|scope|audience|resource|claims)$/i;

interface ProviderContext {
  readonly login: LoginProviderInfo | null;
  /** Providers that a server uses with RFC 8693 although they have another type. */
  readonly tokenExchangeProviders: ReadonlySet<string>;
}

/** Validates one entry of `identityProviders`, after variable substitution. */
export function checkProvider(provider: ProviderSettings, context: ProviderContext): Finding[] {
  const path = ['identityProviders', provider.name];
  return [
    ...checkEmptyTexts(provider, path),
    ...checkEndpointUrls(provider, path),
    ...(provider.type === 'entra'
      ? checkEntra(provider, path, context)
      : checkOtherTypes(provider, path, context)),
    ...(provider.type === 'id-jag'
      ? checkIdJagProvider(provider, path, context.login)
      : checkIdJagOnlyFields(provider, path)),
    ...checkClientCredential(provider, path, context),
    ...(provider.type === 'entra' ? [] : checkAssertionAudience(provider, path)),
    ...checkTargetOrigins(provider, path),
  ];
}

/** A variable with an empty value differs from an absent key. */
function checkEmptyTexts(provider: ProviderSettings, path: Path): Finding[] {
  return Object.entries(provider)
    .filter(([, value]) => value === '')
    .map(([key]) =>
      createFinding([...path, key], 'missing', 'is empty', 'set the variable, or remove the key'),
    );
}

function checkEndpointUrls(provider: ProviderSettings, path: Path): Finding[] {
  return endpoints.flatMap((key) => {
    const text = provider[key];
    if (text === undefined || text === '') return [];
    const keyPath = [...path, key];
    const problem = checkUrlText(text, ['https:', 'http:']);
    if (problem) return [createFinding(keyPath, 'url', problem)];
    if (!isUnencryptedRemote(text)) return [];
    const message = 'must use https: the client’s secret and users’ tokens are sent there';
    return [createFinding(keyPath, 'plain_http', message, 'use https, or a loopback address')];
  });
}

function checkEntra(provider: ProviderSettings, path: Path, { login }: ProviderContext): Finding[] {
  const findings = unsupportedByEntra
    .filter((key) => provider[key] !== undefined)
    .map((key) =>
      createFinding(
        [...path, key],
        'provider_field',
        'is not supported for type entra',
        'remove it, or choose another type',
      ),
    );
  const key = provider.authority === undefined ? 'issuer' : 'authority';
  const authority = provider[key] ?? login?.issuer;
  if (authority === undefined) {
    findings.push(
      createFinding(
        path,
        'missing',
        'type entra needs an authority',
        'add authority: https://login.microsoftonline.com/<tenant>, or set OPENID_ISSUER',
      ),
    );
  } else if (isMicrosoftAuthority(authority) && /^[^/]+\/\/[^/]+\/*$/.test(authority)) {
    findings.push(
      createFinding([...path, key], 'authority', 'has no tenant', 'add the tenant id after the host'),
    );
  }
  return findings;
}

/** Rules of every type except `entra`. */
function checkOtherTypes(
  provider: ProviderSettings,
  path: Path,
  { login, tokenExchangeProviders }: ProviderContext,
): Finding[] {
  const findings: Finding[] = [];
  if (provider.authority !== undefined) {
    findings.push(
      createFinding(
        [...path, 'authority'],
        'provider_field',
        'is supported for type entra only',
        'write issuer',
      ),
    );
  }
  if ((provider.issuer ?? provider.tokenEndpoint ?? login?.issuer) === undefined) {
    findings.push(
      createFinding(path, 'missing', 'needs an issuer or a tokenEndpoint', 'add one, or set OPENID_ISSUER'),
    );
  }
  const usesTokenExchange = provider.type === 'token-exchange' || provider.type === 'id-jag';
  if (!usesTokenExchange && !tokenExchangeProviders.has(provider.name)) {
    for (const key of tokenExchangeFields) {
      if (provider[key] === undefined) continue;
      const message = 'belongs to RFC 8693, which no server uses with this provider';
      findings.push(createFinding([...path, key], 'provider_field', message, 'write type: token-exchange'));
    }
  }
  for (const name of Object.keys(provider.parameters ?? {})) {
    if (!RESERVED.test(name.trim())) continue;
    findings.push(
      createFinding(
        [...path, 'parameters', name],
        'reserved',
        'is a field that the exchange sets itself',
        'remove it',
      ),
    );
  }
  return findings;
}

/** Checks the client ID and the client authentication. Exactly one authentication method is allowed. */
function checkClientCredential(
  provider: ProviderSettings,
  path: Path,
  { login }: ProviderContext,
): Finding[] {
  const { type, name, clientId, clientSecret, certificateFile, privateKeyFile, assertionFile } = provider;
  const findings: Finding[] = [];
  // The entry `login` may override the secret of the login client. For any other entry, a secret without a client
  // ID is an error.
  if (clientSecret !== undefined && clientId === undefined && name !== LOGIN_PROVIDER) {
    findings.push(
      createFinding([...path, 'clientSecret'], 'missing', 'a clientSecret needs a clientId', 'add clientId'),
    );
  }
  if ((certificateFile === undefined) !== (privateKeyFile === undefined)) {
    findings.push(
      createFinding(
        path,
        'missing',
        'certificateFile and privateKeyFile belong together',
        'add the other one',
      ),
    );
  }
  // The login client is registered only at the login provider. Its secret must not be sent to another provider.
  const isLoginClientKnown = !!login?.clientId && isLoginProvider(provider, login.issuer);
  if (clientId === undefined && !isLoginClientKnown) {
    const [message, suggestion] = login?.clientId
      ? ['is missing: the login client is known at OPENID_ISSUER only', 'add it']
      : ['is missing, and no login client is configured', 'add it, or set OPENID_CLIENT_ID'];
    findings.push(createFinding([...path, 'clientId'], 'missing', message, suggestion));
  }
  const hasCertificate = certificateFile !== undefined || privateKeyFile !== undefined;
  const credentialCount = [clientSecret !== undefined, hasCertificate, assertionFile !== undefined].filter(
    Boolean,
  ).length;
  if (credentialCount > 1) {
    const message = 'more than one of clientSecret, certificateFile and assertionFile';
    findings.push(createFinding(path, 'client_credential', message, 'keep one of them'));
  }
  const inheritsSecret = clientId === undefined && isLoginClientKnown && login.hasSecret;
  if (type === 'entra' && credentialCount === 0 && !inheritsSecret) {
    findings.push(
      createFinding(
        path,
        'client_credential',
        'type entra needs a client credential',
        'add clientSecret, certificateFile with privateKeyFile, or assertionFile',
      ),
    );
  }
  return [...findings, ...checkClientAuth(provider, path, inheritsSecret)];
}

function checkClientAuth(provider: ProviderSettings, path: Path, inheritsSecret: boolean): Finding[] {
  const { type, clientAuth, clientSecret, privateKeyFile } = provider;
  if (type === 'entra' || clientAuth === undefined) return [];
  const requiredKey = clientAuth === 'private_key_jwt' ? 'privateKeyFile' : 'clientSecret';
  const hasCredential =
    requiredKey === 'privateKeyFile'
      ? privateKeyFile !== undefined
      : clientSecret !== undefined || inheritsSecret;
  if (hasCredential) return [];
  return [
    createFinding(
      [...path, 'clientAuth'],
      'client_credential',
      `needs a ${requiredKey}`,
      `add ${requiredKey}, or remove it`,
    ),
  ];
}

/** The audience of an assertion that the gateway signs. It needs a key, and `issuer` needs the issuer identifier. */
function checkAssertionAudience(
  {
    clientAssertionAudience,
    privateKeyFile,
    issuer,
    tokenEndpoint,
  }: Pick<ProviderSettings, 'clientAssertionAudience' | 'privateKeyFile' | 'issuer' | 'tokenEndpoint'>,
  path: Path,
): Finding[] {
  const keyPath = [...path, 'clientAssertionAudience'];
  if (clientAssertionAudience === undefined) return [];
  if (privateKeyFile === undefined) {
    const message = 'has no effect without a privateKeyFile';
    return [createFinding(keyPath, 'provider_field', message, 'add privateKeyFile, or remove it')];
  }
  if (clientAssertionAudience === 'token_endpoint' || issuer !== undefined || tokenEndpoint === undefined)
    return [];
  return [createFinding(keyPath, 'missing', 'needs the issuer', 'add issuer, or write token_endpoint')];
}

function checkTargetOrigins({ targets }: ProviderSettings, path: Path): Finding[] {
  return (targets ?? []).flatMap((target, t) =>
    target.origins.flatMap((origin, o) =>
      originOf(origin) === origin.replace(/\/$/, '').toLowerCase()
        ? []
        : [
            createFinding(
              [...path, 'targets', t, 'origins', o],
              'origin',
              'must be an origin',
              'write https://host or https://host:port',
            ),
          ],
    ),
  );
}

/** The exchange sets these values. */
const unsupportedFields = ['subjectTokenType', 'requestedTokenType', 'actorTokenFile'] as const;

/** Additional checks for type `id-jag`. */
function checkIdJagProvider(
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
    // User-defined servers and the Graph token use the entry `login`. Neither has an authorization server in the
    // list.
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

/** Rejects fields of type `id-jag` on other types. */
function checkIdJagOnlyFields(provider: ProviderSettings, path: Path): Finding[] {
  const message = 'is supported for type id-jag only';
  return (['resourceServers', 'subject'] as const)
    .filter((key) => provider[key] !== undefined)
    .map((key) =>
      createFinding([...path, key], 'provider_field', message, 'remove it, or write type: id-jag'),
    );
}

/** A refresh token belongs to one client at one provider. Another provider that receives it could use it up. */
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
  const findings = [
    ...checkEmptyServerTexts(server, serverPath),
    ...checkUrls(server, serverPath),
    ...checkAssertionAudience(server, serverPath),
  ];
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
    // Without client authentication, anyone with an assertion could act as the client.
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
