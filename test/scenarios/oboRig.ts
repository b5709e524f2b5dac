import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createDevAuthority,
  createDevIdp,
  type DevAuthority,
  type DevClient,
  type DevIdp,
  type DevUser,
} from '@behalf/devidp';
import { createSampleServer, type SampleServer } from '@behalf/devidp/sample';
import type { Clock } from '@behalf/kernel';
import { freePort } from '@behalf/testkit';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

/** Every way to exchange that a server can name. */
export const exchangeMethods = [
  'entra-secret',
  'entra-certificate',
  'entra-federated',
  'jwt-bearer',
  'token-exchange',
] as const;
export type ExchangeMethod = (typeof exchangeMethods)[number];

export const oboUsers: readonly DevUser[] = [
  { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'], groups: ['staff'] },
  { id: 'uma', email: 'uma@example.test', name: 'Uma User', roles: ['USER'], groups: ['staff'] },
  { id: 'gil', email: 'gil@example.test', name: 'Gil Guest', roles: ['USER'] },
];

export const OBO_AUDIENCE = 'api://behalf';
const ENTRA_TENANT = 'contoso';
const OBO_CLIENT = { id: 'behalf', secret: 'secret-of-the-gateway' };
export const oboResources = {
  mail: { id: 'api://mail', audience: 'mail-api', scopes: ['Mail.Read'] },
};

export interface OboRig extends InProcessGateway {
  readonly idp: DevIdp;
  readonly ca: DevAuthority;
  /** Takes exchanged tokens, and remembers everything it was shown. */
  readonly mail: SampleServer;
  readonly directory: string;
  /** With what it was started: for another replica of it. */
  readonly startOptions: { readonly yaml: string; readonly variables: Readonly<Record<string, string>> };
  /** A token of this user for the gateway, as a sign-in gives it. */
  readonly mintToken: (user: string, options?: { lifetimeSeconds?: number }) => string;
}

export interface OboRigOptions {
  provider?: ExchangeMethod;
  /** The client signs assertions: which `aud` the provider accepts, and the setting of the gateway. */
  clientKey?: { accepted: 'issuer' | 'token_endpoint'; setting?: 'issuer' | 'token_endpoint' };
  users?: readonly DevUser[];
  variables?: Record<string, string>;
  /** More of the file, below what is there. */
  yaml?: (urls: { ca: string; mail: string }) => string;
  /** Other servers of this machine, for the file and for users: `127.0.0.1:PORT`. */
  allowedAddresses?: readonly string[];
  /** How long exchanged tokens last. */
  tokenSeconds?: number;
  /** The targets of the provider; absent: none. */
  hasTargets?: boolean;
  clock?: Clock;
}

/** A gateway that exchanges its users' tokens at a development provider, over https, for a server that wants them. */
export async function startOboRig(options: OboRigOptions = {}): Promise<OboRig> {
  const {
    provider: method = 'entra-secret',
    users = oboUsers,
    variables = {},
    clock,
    tokenSeconds,
  } = options;
  const tokenLifetime = tokenSeconds === undefined ? {} : { tokenSeconds };
  const directory = await mkdtemp(join(tmpdir(), 'behalf-obo-'));
  const ca = await createDevAuthority();
  const caFile = await ca.writeCaFile(directory);
  const port = await freePort();
  const origin = `https://127.0.0.1:${port}`;
  const clientCredential = await createClientCredential(method, ca, directory, options.clientKey);
  const disposables: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const dispose of disposables.splice(0).reverse()) await dispose();
  };
  try {
    const started: { idp?: DevIdp } = {};
    const getIdp = (): DevIdp => {
      if (!started.idp) throw new Error('The provider does not run yet');
      return started.idp;
    };
    const mail = await createSampleServer({
      ...{ isProduction: false, name: 'mail', https: { ca }, ...oboResources.mail },
      idp: {
        get issuers() {
          return getIdp().issuers;
        },
        getPublicKeys: () => getIdp().getPublicKeys(),
      },
      ...(clock && { clock }),
    });
    disposables.push(() => mail.close());
    const isEntra = method.startsWith('entra');
    const issuer = isEntra ? `${origin}/${ENTRA_TENANT}/v2.0` : origin;
    const yaml = createOboYaml({ method, clientCredential, origin, caFile, mail, options });
    const env = {
      OPENID_ISSUER: issuer,
      OPENID_CLIENT_ID: OBO_CLIENT.id,
      OPENID_CLIENT_SECRET: OBO_CLIENT.secret,
      OPENID_AUDIENCE: OBO_AUDIENCE,
      RATE_LIMIT_WRITES: '100000',
      RATE_LIMIT_CALLS: '100000',
      ...variables,
    };
    const gateway = await startInProcess(env, yaml, clock);
    disposables.push(() => gateway.close());
    const callback = new URL('/oauth/openid/callback', gateway.url);
    callback.hostname = 'localhost';
    const idp = await createDevIdp({
      ...{ isProduction: false, port, users, audience: OBO_AUDIENCE, https: { ca } },
      ...(isEntra && { tenant: ENTRA_TENANT }),
      clients: [{ ...OBO_CLIENT, redirectUris: [callback.href], ...clientCredential.client }],
      resources: Object.values(oboResources).map((resource) => ({ ...resource, ...tokenLifetime })),
      ...(clock && { clock }),
    });
    started.idp = idp;
    disposables.push(() => idp.close());
    const tokens = isEntra ? idp.entra?.tokens : idp.tokens;
    return {
      ...gateway,
      ...{ idp, ca, mail, directory, startOptions: { yaml, variables: env }, close },
      mintToken: (user, { lifetimeSeconds } = {}) =>
        tokens?.mint({ user, ...(lifetimeSeconds !== undefined && { lifetimeSeconds }) }) ?? '',
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface ClientCredential {
  /** Lines of the provider's entry. */
  readonly yaml: string;
  readonly client: Partial<DevClient>;
}

const OTHER_ISSUER = 'https://workload.example';

/** A secret is the login's own; the others are files that the provider's entry names. */
async function createClientCredential(
  method: ExchangeMethod,
  ca: DevAuthority,
  directory: string,
  clientKey: OboRigOptions['clientKey'],
): Promise<ClientCredential> {
  const writeText = async (name: string, text: string) => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return JSON.stringify(path);
  };
  if (method === 'entra-certificate' || clientKey) {
    const { cert, key } = await ca.issueClient(OBO_CLIENT.id);
    const [certificateFile, keyFile] = [
      await writeText('client.pem', cert),
      await writeText('client.key', key),
    ];
    return {
      yaml: `\n    certificateFile: ${certificateFile}\n    privateKeyFile: ${keyFile}${
        clientKey?.setting === undefined ? '' : `\n    clientAssertionAudience: ${clientKey.setting}`
      }`,
      client: { certificates: [cert], ...(clientKey && { assertionAudience: clientKey.accepted }) },
    };
  }
  if (method === 'entra-federated') {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'elsewhere', alg: 'RS256' };
    const assertion = await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', kid: 'elsewhere' })
      .setIssuer(OTHER_ISSUER)
      .setSubject('gateway')
      .setAudience('api://AzureADTokenExchange')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
    return {
      yaml: `\n    assertionFile: ${await writeText('assertion.jwt', assertion)}`,
      client: { federatedCredentials: [{ issuer: OTHER_ISSUER, subject: 'gateway', jwks: { keys: [jwk] } }] },
    };
  }
  return { yaml: '', client: {} };
}

function createOboYaml(parts: {
  method: ExchangeMethod;
  clientCredential: ClientCredential;
  origin: string;
  caFile: string;
  mail: SampleServer;
  options: OboRigOptions;
}): string {
  const { method, clientCredential, origin, caFile, mail, options } = parts;
  const ca = JSON.stringify(caFile);
  const isEntra = method.startsWith('entra');
  const type = isEntra ? 'entra' : method;
  const scopes = isEntra ? `${oboResources.mail.id}/.default` : oboResources.mail.scopes.join(' ');
  const audience = isEntra ? '' : `, audience: '${oboResources.mail.id}'`;
  const authorityLine = isEntra ? `\n    authority: ${origin}/${ENTRA_TENANT}` : '';
  const parameters = method === 'jwt-bearer' ? '\n    parameters: { requested_token_use: on_behalf_of }' : '';
  const hasTargets = options.hasTargets
    ? `\n    targets: [{ scopes: ['${scopes}'], origins: ['${mail.origin}'] }]`
    : '';
  return `identityProviders:
  login:
    type: ${type}${authorityLine}
    caFile: ${ca}${parameters}${hasTargets}${clientCredential.yaml}
mcpServers:
  mail:
    type: streamable-http
    url: ${mail.url}
    caFile: ${ca}
    obo: { scopes: '${scopes}'${audience} }
${options.yaml?.({ ca: caFile, mail: mail.url }) ?? ''}
mcpSettings:
  operatorAddresses: ['${new URL(mail.url).host}']
  allowedAddresses: ${JSON.stringify(options.allowedAddresses ?? [])}
`;
}
