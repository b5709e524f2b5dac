import { finding, originOf, urlProblem, type Finding, type Path } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import { idJagRules, notOfIdJag } from './idJagRules.ts';
import { isMicrosoftAuthority, LOGIN, type LoginFacts } from './login.ts';
import { isAtLogin } from './loginPlace.ts';
import { isReadable } from './plainHttp.ts';

const endpoints = ['issuer', 'authority', 'tokenEndpoint'] as const;
/** MSAL decides about these by itself. */
const notForEntra = [
  'tokenEndpoint',
  'clientAuth',
  'parameters',
  'subjectTokenType',
  'requestedTokenType',
  'actorTokenFile',
  'dpop',
] as const;
const ofTokenExchange = ['subjectTokenType', 'requestedTokenType', 'actorTokenFile'] as const;
/** What the exchange itself says: a second value for it would be somebody else's exchange. */
const RESERVED =
  /^(grant_type|assertion|subject_token.*|actor_token.*|requested_token_type|client_.*|scope|audience|resource|claims)$/i;

export interface RuleSurroundings {
  readonly login: LoginFacts | null;
  /** Providers that a server speaks RFC 8693 to although they are of another type. */
  readonly speakTokenExchange: ReadonlySet<string>;
}

/** Everything that is wrong with one entry of `identityProviders`, its variables filled in. */
export function providerRules(provider: ProviderSettings, around: RuleSurroundings): Finding[] {
  const path = ['identityProviders', provider.name];
  return [
    ...emptyTexts(provider, path),
    ...endpointRules(provider, path),
    ...(provider.type === 'entra' ? entraRules(provider, path, around) : otherRules(provider, path, around)),
    ...(provider.type === 'id-jag' ? idJagRules(provider, path, around.login) : notOfIdJag(provider, path)),
    ...clientRules(provider, path, around),
    ...targetRules(provider, path),
  ];
}

/** A variable that is set to nothing is not the same as a key that is absent. */
function emptyTexts(provider: ProviderSettings, path: Path): Finding[] {
  return Object.entries(provider)
    .filter(([, value]) => value === '')
    .map(([key]) => finding([...path, key], 'missing', 'is empty', 'set the variable, or remove the key'));
}

function endpointRules(provider: ProviderSettings, path: Path): Finding[] {
  return endpoints.flatMap((key) => {
    const text = provider[key];
    if (text === undefined || text === '') return [];
    const at = [...path, key];
    const problem = urlProblem(text, ['https:', 'http:']);
    if (problem) return [finding(at, 'url', problem)];
    if (!isReadable(text)) return [];
    const message = 'must be https: the client’s secret and users’ tokens are sent there';
    return [finding(at, 'plain_http', message, 'write https, or an address of loopback')];
  });
}

function entraRules(provider: ProviderSettings, path: Path, { login }: RuleSurroundings): Finding[] {
  const findings = notForEntra
    .filter((key) => provider[key] !== undefined)
    .map((key) =>
      finding(
        [...path, key],
        'provider_field',
        'has no meaning for type entra',
        'remove it, or choose another type',
      ),
    );
  const key = provider.authority === undefined ? 'issuer' : 'authority';
  const authority = provider[key] ?? login?.issuer;
  if (authority === undefined) {
    findings.push(
      finding(
        path,
        'missing',
        'type entra needs an authority',
        'add authority: https://login.microsoftonline.com/<tenant>, or set OPENID_ISSUER',
      ),
    );
  } else if (isMicrosoftAuthority(authority) && /^[^/]+\/\/[^/]+\/*$/.test(authority)) {
    findings.push(
      finding([...path, key], 'authority', 'names no tenant', 'write the tenant’s id behind the host'),
    );
  }
  return findings;
}

function otherRules(
  provider: ProviderSettings,
  path: Path,
  { login, speakTokenExchange }: RuleSurroundings,
): Finding[] {
  const findings: Finding[] = [];
  if (provider.authority !== undefined) {
    findings.push(
      finding([...path, 'authority'], 'provider_field', 'has a meaning for type entra alone', 'write issuer'),
    );
  }
  if ((provider.issuer ?? provider.tokenEndpoint ?? login?.issuer) === undefined) {
    findings.push(
      finding(path, 'missing', 'needs an issuer or a tokenEndpoint', 'add one, or set OPENID_ISSUER'),
    );
  }
  const saysItself = provider.type === 'token-exchange' || provider.type === 'id-jag';
  if (!saysItself && !speakTokenExchange.has(provider.name)) {
    for (const key of ofTokenExchange) {
      if (provider[key] === undefined) continue;
      const message = 'belongs to RFC 8693, and nobody speaks it to this provider';
      findings.push(finding([...path, key], 'provider_field', message, 'write type: token-exchange'));
    }
  }
  for (const name of Object.keys(provider.parameters ?? {})) {
    if (!RESERVED.test(name.trim())) continue;
    findings.push(
      finding(
        [...path, 'parameters', name],
        'reserved',
        'is a field that the exchange itself fills in',
        'remove it',
      ),
    );
  }
  return findings;
}

/** Who we are at the provider, and how we prove it: in one way, so that nobody wonders which one counts. */
function clientRules(provider: ProviderSettings, path: Path, { login }: RuleSurroundings): Finding[] {
  const { type, name, clientId, clientSecret, certificateFile, privateKeyFile, assertionFile } = provider;
  const findings: Finding[] = [];
  // For the login client another secret may be said; for any other entry it would be a secret of nobody.
  if (clientSecret !== undefined && clientId === undefined && name !== LOGIN) {
    findings.push(
      finding([...path, 'clientSecret'], 'missing', 'a clientSecret needs a clientId', 'add clientId'),
    );
  }
  if ((certificateFile === undefined) !== (privateKeyFile === undefined)) {
    findings.push(
      finding(path, 'missing', 'certificateFile and privateKeyFile belong together', 'add the other one'),
    );
  }
  // Known at the login alone: elsewhere its secret would be told to a stranger.
  const isKnown = !!login?.clientId && isAtLogin(provider, login.issuer);
  if (clientId === undefined && !isKnown) {
    const [message, suggestion] = login?.clientId
      ? ['is missing: elsewhere than at OPENID_ISSUER the login client is not known', 'add it']
      : ['is missing, and there is no login client to take its place', 'add it, or set OPENID_CLIENT_ID'];
    findings.push(finding([...path, 'clientId'], 'missing', message, suggestion));
  }
  const isCertified = certificateFile !== undefined || privateKeyFile !== undefined;
  const said = [clientSecret !== undefined, isCertified, assertionFile !== undefined].filter(Boolean).length;
  if (said > 1) {
    const message = 'more than one of clientSecret, certificateFile and assertionFile';
    findings.push(finding(path, 'client_credential', message, 'keep one of them'));
  }
  const inherits = clientId === undefined && isKnown && login.hasSecret;
  if (type === 'entra' && said === 0 && !inherits) {
    findings.push(
      finding(
        path,
        'client_credential',
        'type entra needs a credential of the client',
        'add clientSecret, certificateFile with privateKeyFile, or assertionFile',
      ),
    );
  }
  return [...findings, ...methodRules(provider, path, inherits)];
}

function methodRules(provider: ProviderSettings, path: Path, inherits: boolean): Finding[] {
  const { type, clientAuth, clientSecret, privateKeyFile } = provider;
  if (type === 'entra' || clientAuth === undefined) return [];
  const wanted = clientAuth === 'private_key_jwt' ? 'privateKeyFile' : 'clientSecret';
  const has =
    wanted === 'privateKeyFile' ? privateKeyFile !== undefined : clientSecret !== undefined || inherits;
  if (has) return [];
  return [
    finding([...path, 'clientAuth'], 'client_credential', `needs a ${wanted}`, `add ${wanted}, or remove it`),
  ];
}

function targetRules({ targets }: ProviderSettings, path: Path): Finding[] {
  return (targets ?? []).flatMap((target, t) =>
    target.origins.flatMap((origin, o) =>
      originOf(origin) === origin.replace(/\/$/, '').toLowerCase()
        ? []
        : [
            finding(
              [...path, 'targets', t, 'origins', o],
              'origin',
              'must be an origin',
              'write https://host or https://host:port',
            ),
          ],
    ),
  );
}
