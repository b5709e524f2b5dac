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
export const ways = [
  'entra-secret',
  'entra-certificate',
  'entra-federated',
  'jwt-bearer',
  'token-exchange',
] as const;
export type Way = (typeof ways)[number];

export const oboUsers: readonly DevUser[] = [
  { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'], groups: ['staff'] },
  { id: 'uma', email: 'uma@example.test', name: 'Uma User', roles: ['USER'], groups: ['staff'] },
  { id: 'gil', email: 'gil@example.test', name: 'Gil Guest', roles: ['USER'] },
];

export const OBO_AUDIENCE = 'api://behalf';
const TENANT = 'contoso';
const CLIENT = { id: 'behalf', secret: 'secret-of-the-gateway' };
export const resources = {
  mail: { id: 'api://mail', audience: 'mail-api', scopes: ['Mail.Read'] },
};

export interface OboScene extends InProcessGateway {
  readonly idp: DevIdp;
  readonly ca: DevAuthority;
  /** Takes exchanged tokens, and remembers everything it was shown. */
  readonly mail: SampleServer;
  readonly directory: string;
  /** With what it was started: for another replica of it. */
  readonly startedWith: { readonly yaml: string; readonly variables: Readonly<Record<string, string>> };
  /** A token of this user for the gateway, as a sign-in gives it. */
  readonly token: (user: string, options?: { lifetimeSeconds?: number }) => string;
}

export interface OboSceneOptions {
  way?: Way;
  users?: readonly DevUser[];
  variables?: Record<string, string>;
  /** More of the file, below what is there. */
  yaml?: (scene: { ca: string; mail: string }) => string;
  /** Other servers of this machine, for the file and for users: `127.0.0.1:PORT`. */
  addresses?: readonly string[];
  /** How long exchanged tokens last. */
  tokenSeconds?: number;
  /** The targets of the provider; absent: none. */
  targets?: boolean;
  clock?: Clock;
}

/** A gateway that exchanges its users' tokens at a development provider, over https, for a server that wants them. */
export async function startOboScene(options: OboSceneOptions = {}): Promise<OboScene> {
  const { way = 'entra-secret', users = oboUsers, variables = {}, clock, tokenSeconds } = options;
  const lasting = tokenSeconds === undefined ? {} : { tokenSeconds };
  const directory = await mkdtemp(join(tmpdir(), 'behalf-obo-'));
  const ca = await createDevAuthority();
  const caFile = await ca.writeCaFile(directory);
  const port = await freePort();
  const origin = `https://127.0.0.1:${port}`;
  const proof = await clientProof(way, ca, directory);
  const closers: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const started: { idp?: DevIdp } = {};
    const running = (): DevIdp => {
      if (!started.idp) throw new Error('The provider does not run yet');
      return started.idp;
    };
    const mail = await createSampleServer({
      ...{ production: false, name: 'mail', https: { ca }, ...resources.mail },
      idp: {
        get issuers() {
          return running().issuers;
        },
        publicKeys: () => running().publicKeys(),
      },
      ...(clock && { clock }),
    });
    closers.push(() => mail.close());
    const isEntra = way.startsWith('entra');
    const issuer = isEntra ? `${origin}/${TENANT}/v2.0` : origin;
    const yaml = yamlOf({ way, proof, origin, caFile, mail, options });
    const env = {
      OPENID_ISSUER: issuer,
      OPENID_CLIENT_ID: CLIENT.id,
      OPENID_CLIENT_SECRET: CLIENT.secret,
      OPENID_AUDIENCE: OBO_AUDIENCE,
      RATE_LIMIT_WRITES: '100000',
      RATE_LIMIT_CALLS: '100000',
      ...variables,
    };
    const gateway = await startInProcess(env, yaml, clock);
    closers.push(() => gateway.close());
    const callback = new URL('/oauth/openid/callback', gateway.url);
    callback.hostname = 'localhost';
    const idp = await createDevIdp({
      ...{ production: false, port, users, audience: OBO_AUDIENCE, https: { ca } },
      ...(isEntra && { tenant: TENANT }),
      clients: [{ ...CLIENT, redirectUris: [callback.href], ...proof.client }],
      resources: Object.values(resources).map((resource) => ({ ...resource, ...lasting })),
      ...(clock && { clock }),
    });
    started.idp = idp;
    closers.push(() => idp.close());
    const tokens = isEntra ? idp.entra?.tokens : idp.tokens;
    return {
      ...gateway,
      ...{ idp, ca, mail, directory, startedWith: { yaml, variables: env }, close },
      token: (user, { lifetimeSeconds } = {}) =>
        tokens?.mint({ user, ...(lifetimeSeconds !== undefined && { lifetimeSeconds }) }) ?? '',
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Proof {
  /** Lines of the provider's entry. */
  readonly yaml: string;
  readonly client: Partial<DevClient>;
}

const OTHER_ISSUER = 'https://workload.example';

/** A secret is the login's own; the others are files that the provider's entry names. */
async function clientProof(way: Way, ca: DevAuthority, directory: string): Promise<Proof> {
  const file = async (name: string, text: string) => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return JSON.stringify(path);
  };
  if (way === 'entra-certificate') {
    const { cert, key } = await ca.issueClient(CLIENT.id);
    const [certificateFile, keyFile] = [await file('client.pem', cert), await file('client.key', key)];
    return {
      yaml: `\n    certificateFile: ${certificateFile}\n    privateKeyFile: ${keyFile}`,
      client: { certificates: [cert] },
    };
  }
  if (way === 'entra-federated') {
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
      yaml: `\n    assertionFile: ${await file('assertion.jwt', assertion)}`,
      client: { federations: [{ issuer: OTHER_ISSUER, subject: 'gateway', keys: { keys: [jwk] } }] },
    };
  }
  return { yaml: '', client: {} };
}

function yamlOf(parts: {
  way: Way;
  proof: Proof;
  origin: string;
  caFile: string;
  mail: SampleServer;
  options: OboSceneOptions;
}): string {
  const { way, proof, origin, caFile, mail, options } = parts;
  const ca = JSON.stringify(caFile);
  const isEntra = way.startsWith('entra');
  const type = isEntra ? 'entra' : way;
  const scopes = isEntra ? `${resources.mail.id}/.default` : resources.mail.scopes.join(' ');
  const audience = isEntra ? '' : `, audience: '${resources.mail.id}'`;
  const place = isEntra ? `\n    authority: ${origin}/${TENANT}` : '';
  const parameters = way === 'jwt-bearer' ? '\n    parameters: { requested_token_use: on_behalf_of }' : '';
  const targets = options.targets
    ? `\n    targets: [{ scopes: ['${scopes}'], origins: ['${mail.origin}'] }]`
    : '';
  return `identityProviders:
  login:
    type: ${type}${place}
    caFile: ${ca}${parameters}${targets}${proof.yaml}
mcpServers:
  mail:
    type: streamable-http
    url: ${mail.url}
    caFile: ${ca}
    obo: { scopes: '${scopes}'${audience} }
${options.yaml?.({ ca: caFile, mail: mail.url }) ?? ''}
mcpSettings:
  operatorAddresses: ['${new URL(mail.url).host}']
  allowedAddresses: ${JSON.stringify(options.addresses ?? [])}
`;
}
