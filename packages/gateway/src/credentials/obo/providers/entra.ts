import type * as msal from '@azure/msal-node';
import type { INetworkModule, NetworkRequestOptions, NetworkResponse } from '@azure/msal-node';
import { parseUrl } from '@behalf/contracts';
import type { Clock, Fetch, Random } from '@behalf/kernel';
import { ExchangeFault, type ExchangeProvider } from '../exchangeProvider.ts';
import type { CredentialMaterial } from './clientCredential.ts';
import {
  type EffectiveSettings,
  type ProviderParts,
  createProviderIdentity,
  entraAuthority,
} from './providerSettings.ts';
import { type ProviderResponse, parseJsonObject, sendProviderRequest } from './tokenRequest.ts';
import { readTokenResponse } from './tokenResponse.ts';

/** The library is heavy, and most gateways never need it. */
type LoadMsal = () => Promise<Pick<typeof msal, 'ConfidentialClientApplication'>>;

/** Entra, by Microsoft's own library, which forms the request and keeps nothing: it lives for one exchange. */
export function createEntraProvider(
  parts: ProviderParts,
  loadMsal: LoadMsal = () => import('@azure/msal-node'),
): ExchangeProvider {
  const { settings, fetch, endpoint, credential, clock, random } = parts;
  const identity = createProviderIdentity(parts, 'entra');

  return {
    get identity() {
      return identity();
    },
    async exchange(request, signal) {
      const [{ url: tokenEndpoint }, material] = await Promise.all([endpoint.current(), credential.read()]);
      const auth = authOptions(settings, material, tokenEndpoint);
      const { ConfidentialClientApplication } = await loadMsal().catch(() => {
        throw misconfigured(
          settings,
          '@azure/msal-node cannot be loaded: reinstall the packages of the gateway',
        );
      });
      const network = createEntraNetwork({ fetch, clock, tokenEndpoint, signal });
      let msalToken: string | undefined;
      let failure: unknown;
      try {
        // Anew each time: its throttle knows no users, so one user's 429 would stop everybody, and its cache is ours.
        const application = new ConfidentialClientApplication({
          auth,
          system: { networkClient: network.client, disableInternalRetries: true },
        });
        const result = await application.acquireTokenOnBehalfOf({
          oboAssertion: request.subject.token.reveal(),
          scopes: [...request.scopes],
          skipCache: true,
          correlationId: newGuid(random),
          ...(request.claims !== undefined && { claims: request.claims }),
        });
        msalToken = result?.accessToken;
      } catch (error) {
        failure = error;
      }
      const pending = network.response();
      if (!pending) throw toUnsentFault(settings, failure);
      // The library's errors quote the provider, and it takes an empty answer for a token: we read the answer.
      const response = await pending;
      const token = readTokenResponse(response, { clock, grant: 'entra' });
      if (msalToken !== token.token) {
        const hint = 'The response contains a token, but it is not a valid Entra response.';
        throw new ExchangeFault('OBO_EMPTY_RESPONSE', { status: response.status, hint });
      }
      return token;
    },
  };
}

function misconfigured({ name }: EffectiveSettings, hint: string): ExchangeFault {
  return new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}` });
}

function authOptions(
  settings: EffectiveSettings,
  material: CredentialMaterial,
  tokenEndpoint: string,
): msal.Configuration['auth'] {
  const { clientId, authority, issuer } = settings;
  const fault = (hint: string) => misconfigured(settings, hint);
  if (clientId === undefined) throw fault('clientId is missing');
  const configured = authority ?? issuer ?? tokenEndpoint.replace(/\/oauth2\/.*$/, '');
  if (!parseUrl(configured)) throw fault('authority is not a URL');
  const authorityUrl = new URL(entraAuthority(configured));
  // Everything the library would look up: an endpoint, and who vouches for the host. It knows no http; nothing is sent
  // to the authority itself.
  const httpsAuthority = `https://${authorityUrl.host}${authorityUrl.pathname}`;
  const metadata = {
    token_endpoint: tokenEndpoint,
    authorization_endpoint: `${httpsAuthority}/oauth2/v2.0/authorize`,
    issuer: `${httpsAuthority}/v2.0`,
    jwks_uri: `${httpsAuthority}/discovery/v2.0/keys`,
  };
  return {
    clientId,
    authority: httpsAuthority,
    knownAuthorities: [authorityUrl.host],
    authorityMetadata: JSON.stringify(metadata),
    // Tokens that may be revoked at any time live longer, and we pass claims challenges on.
    clientCapabilities: ['CP1'],
    ...credentialOptions(material, fault),
  };
}

function credentialOptions(
  material: CredentialMaterial,
  fault: (hint: string) => ExchangeFault,
): Partial<msal.Configuration['auth']> {
  switch (material.kind) {
    case 'secret':
      return { clientSecret: material.secret };
    case 'assertion':
      return { clientAssertion: material.assertion };
    case 'key':
      if (material.thumbprint === undefined) throw fault('a private key needs its certificateFile');
      return { clientCertificate: { thumbprintSha256: material.thumbprint, privateKey: material.pem } };
    case 'none':
      throw fault('clientSecret, certificateFile or assertionFile is missing');
  }
}

/** The library refused to form the request: the key is of another kind, or the claims are no JSON. */
function toUnsentFault({ name }: EffectiveSettings, failure: unknown): ExchangeFault {
  const code =
    typeof failure === 'object' && failure !== null && 'errorCode' in failure ? failure.errorCode : undefined;
  return new ExchangeFault('OBO_MISCONFIGURED', {
    hint: `identityProviders.${name}: the request could not be built; the certificate must be RSA and claims must be JSON`,
    ...(typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) && { providerCode: code }),
  });
}

/** Entra wants correlation ids in this form (RFC 9562, version 4). */
function newGuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

interface EntraNetworkParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly tokenEndpoint: string;
  readonly signal: AbortSignal;
}

interface EntraNetwork {
  readonly client: INetworkModule;
  /** What came of the one request; undefined when none was made. */
  response(): Promise<ProviderResponse> | undefined;
}

/** The library's way out for one exchange: one request, to the configured endpoint. Its answer is judged by us. */
export function createEntraNetwork({ fetch, clock, tokenEndpoint, signal }: EntraNetworkParts): EntraNetwork {
  let pending: Promise<ProviderResponse> | undefined;

  async function post<T>(url: string, options: NetworkRequestOptions = {}): Promise<NetworkResponse<T>> {
    // The library adds a correlation id as a query.
    if (url !== tokenEndpoint && !url.startsWith(`${tokenEndpoint}?`))
      throw new Error('not the token endpoint');
    if (pending) throw new Error('only one request is allowed per exchange');
    const { headers = {}, body = '' } = options;
    pending = sendProviderRequest({ fetch, clock }, url, { method: 'POST', headers, body, signal });
    const response = await pending;
    return { status: response.status, headers: {}, body: (parseJsonObject(response.text) ?? {}) as T };
  }

  return {
    client: {
      sendPostRequestAsync: post,
      // Discovery of instances and endpoints: all of that is static here.
      sendGetRequestAsync: () => Promise.reject(new Error('GET requests are not allowed')),
    },
    response: () => pending,
  };
}
