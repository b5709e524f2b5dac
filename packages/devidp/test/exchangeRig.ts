import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT, type JWTPayload } from 'jose';
import {
  createDevAuthority,
  createDevIdp,
  createTrustingFetch,
  type DevIdp,
  type DevIdpOptions,
} from '../src/index.ts';
import { adaUser, bobUser } from './idpRig.ts';

export const RIG_TENANT = '7e2a9f4c-acme';
export const OBO_SECRET = 'secret-of-the-obo-client';
export const GRANTS = {
  bearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  exchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
};
export const TYPES = {
  access: 'urn:ietf:params:oauth:token-type:access_token',
  id: 'urn:ietf:params:oauth:token-type:id_token',
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
};
export const mail = {
  id: 'api://mail',
  audience: 'aud-of-mail',
  locations: ['https://mail.example/mcp'],
  scopes: ['read', 'send'],
};
export const wiki = { id: 'api://wiki', scopes: ['edit'], consentedBy: [bobUser.id], tokenSeconds: 60 };

const startedIdps: DevIdp[] = [];

export async function closeExchangeRigs(): Promise<void> {
  for (const idp of startedIdps.splice(0)) await idp.close();
}

export interface RigResponse {
  status: number;
  headers: Headers;
  body: Record<string, unknown> & { access_token: string };
}

/** A provider over https with a tenant, and a client for each way to prove itself. */
export async function createExchangeRig(options: Partial<DevIdpOptions> = {}) {
  const ca = await createDevAuthority();
  const certificate = await ca.issueClient('obo');
  const externalIssuer = await createExternalIssuer();
  const clients = [
    {
      id: 'obo',
      secret: OBO_SECRET,
      redirectUris: ['http://127.0.0.1:1/callback'],
      certificates: [certificate.cert],
      federatedCredentials: [
        { issuer: externalIssuer.issuer, subject: 'workload', jwks: externalIssuer.keys },
      ],
      audiences: ['api://gateway'],
    },
    { id: 'robot', secret: 'robot-secret' },
  ];
  const idp = await createDevIdp({
    ...{ isProduction: false, port: 0, users: [adaUser, bobUser], clients, audience: 'api://obo' },
    ...{ https: { ca }, tenant: RIG_TENANT, resources: [mail, wiki], ...options },
  });
  startedIdps.push(idp);
  const fetch = createTrustingFetch(ca.caPem);
  const entra = idp.entra!;

  const postForm = async (url: string, form: Record<string, string | string[]>): Promise<RigResponse> => {
    const body = new URLSearchParams();
    for (const [name, values] of Object.entries(form))
      for (const value of [values].flat()) body.append(name, value);
    const response = await fetch(url, { method: 'POST', body });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(text) as RigResponse['body'],
    };
  };
  const secret = { client_id: 'obo', client_secret: OBO_SECRET };
  /** On-Behalf-Of as Entra takes it, for Ada and the mail API; `undefined` leaves a field out. */
  const requestObo = (fields: Record<string, string | undefined> = {}) =>
    postForm(
      entra.tokenEndpoint,
      omitUndefined({
        ...{ grant_type: GRANTS.bearer, requested_token_use: 'on_behalf_of', ...secret },
        ...{ assertion: entra.tokens.mint(), scope: `${mail.id}/.default`, ...fields },
      }),
    );
  /** RFC 8693, for Ada and the mail API. */
  const requestExchange = (fields: Record<string, string | string[] | undefined> = {}) =>
    postForm(
      idp.tokenEndpoint,
      omitUndefined({
        ...{ grant_type: GRANTS.exchange, ...secret, audience: mail.id },
        ...{ subject_token: idp.tokens.mint(), subject_token_type: TYPES.access, ...fields },
      }),
    );
  const verifyToken = async (token: string, audience: string, issuer: string): Promise<JWTPayload> => {
    const options = { audience, issuer, algorithms: ['RS256'] };
    return (await jwtVerify(token, createLocalJWKSet(idp.getPublicKeys()), options)).payload;
  };

  return {
    idp,
    entra,
    ca,
    certificate,
    externalIssuer,
    fetch,
    postForm,
    requestObo,
    requestExchange,
    verifyToken,
  };
}
export type ExchangeRig = Awaited<ReturnType<typeof createExchangeRig>>;

/** An issuer of somebody else's, whose assertions stand for a client. */
async function createExternalIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const issuer = 'https://workloads.example';
  const sign = (claims: Record<string, unknown> = {}) =>
    new SignJWT({ iss: issuer, sub: 'workload', aud: 'api://AzureADTokenExchange', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'w1' })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
  return { issuer, sign, keys: { keys: [{ ...(await exportJWK(publicKey)), kid: 'w1', alg: 'RS256' }] } };
}

function omitUndefined<T>(fields: Record<string, T | undefined>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, T] => entry[1] !== undefined),
  );
}
