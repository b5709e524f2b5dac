import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevAuthority, createDevIdp, type DevAuthority, type DevIdp } from '@behalf/devidp';
import {
  createResourceAs,
  createSampleServer,
  type ResourceAs,
  type SampleServer,
} from '@behalf/devidp/sample';
import { freePort } from '@behalf/testkit';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { OBO_AUDIENCE, oboUsers } from './oboScene.ts';

export const WIKI_CLIENT = 'behalf-at-wiki';
export const SECRETS = { login: 'secret-of-the-gateway', wiki: 'secret-at-the-other-wiki' };
const SCOPE = 'wiki.read';

/** A company's identity provider, an MCP server of somebody else's, and the authorization server of that one. */
export interface IdJagScene extends InProcessGateway {
  readonly ca: DevAuthority;
  readonly idp: DevIdp;
  /** Takes assertions of our client by a key. */
  readonly as: ResourceAs;
  /** Takes them by a secret; the same server's users are never sent there. */
  readonly otherAs: ResourceAs;
  readonly wiki: SampleServer;
  /** A token of this user for the gateway, as a chat platform presents it. */
  readonly token: (user: string) => string;
}

export interface IdJagSceneOptions {
  /** Lines below `obo` of the server, which are else left to discovery. */
  readonly obo?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly accessTokenSeconds?: number;
  readonly idTokenSeconds?: number;
  /** Which token of the sign-in is shown, where the entry says. */
  readonly subject?: 'refresh_token' | 'auto';
  /** The provider gives another refresh token with each exchange. */
  readonly rotateOnExchange?: boolean;
}

export async function startIdJagScene(options: IdJagSceneOptions = {}): Promise<IdJagScene> {
  const directory = await mkdtemp(join(tmpdir(), 'behalf-id-jag-'));
  const closers: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const ca = await createDevAuthority();
    const caFile = await ca.writeCaFile(directory);
    const { cert, key } = await ca.issueClient(WIKI_CLIENT);
    const [certificateFile, privateKeyFile] = ['wiki.pem', 'wiki.key'].map((name) => join(directory, name));
    await writeFile(certificateFile ?? '', cert);
    await writeFile(privateKeyFile ?? '', key, { mode: 0o600 });
    const port = await freePort();
    const origin = `https://127.0.0.1:${port}`;
    const started: { idp?: DevIdp } = {};
    const trusted = {
      issuers: [origin],
      publicKeys: () => started.idp?.publicKeys() ?? { keys: [] },
    };
    const common = { production: false, https: { ca } };
    const as = await createResourceAs({
      ...{ ...common, idp: trusted, clients: [{ id: WIKI_CLIENT, certificates: [cert] }] },
    });
    closers.push(() => as.close());
    const otherAs = await createResourceAs({
      ...{ ...common, idp: trusted, clients: [{ id: WIKI_CLIENT, secret: SECRETS.wiki }] },
    });
    closers.push(() => otherAs.close());
    const wikiPort = await freePort();
    const url = `https://127.0.0.1:${wikiPort}/mcp`;
    const wiki = await createSampleServer({
      ...{ ...common, name: 'wiki', port: wikiPort, idp: as, audience: url, scopes: [SCOPE] },
    });
    closers.push(() => wiki.close());
    const env = {
      OPENID_ISSUER: origin,
      OPENID_CLIENT_ID: 'behalf',
      OPENID_CLIENT_SECRET: SECRETS.login,
      OPENID_AUDIENCE: OBO_AUDIENCE,
      OPENID_SCOPE: 'openid profile email offline_access',
      RATE_LIMIT_CALLS: '100000',
      ...options.variables,
    };
    const [ca_, cert_, key_] = [caFile, certificateFile, privateKeyFile].map((file) => JSON.stringify(file));
    const yaml = `identityProviders:
  login: { type: token-exchange, caFile: ${ca_} }
  enterprise:
    type: id-jag${options.subject === undefined ? '' : `\n    subject: ${options.subject}`}
    caFile: ${ca_}
    resourceServers:
      - issuer: ${otherAs.issuer}
        clientId: ${WIKI_CLIENT}
        clientSecret: ${SECRETS.wiki}
        caFile: ${ca_}
      - issuer: ${as.issuer}
        clientId: ${WIKI_CLIENT}
        certificateFile: ${cert_}
        privateKeyFile: ${key_}
        caFile: ${ca_}
    targets: [{ scopes: [${SCOPE}], origins: ['${wiki.origin}'] }]
mcpServers:
  wiki:
    type: streamable-http
    url: ${wiki.url}
    caFile: ${ca_}
    obo: { provider: enterprise, scopes: ${SCOPE}${options.obo?.replace('$AS', as.issuer) ?? ''} }
mcpSettings:
  operatorAddresses: ['${new URL(wiki.url).host}']
`;
    const gateway = await startInProcess(env, yaml);
    closers.push(() => gateway.close());
    const callback = new URL('/oauth/openid/callback', gateway.url);
    callback.hostname = 'localhost';
    const idp = await createDevIdp({
      ...{ ...common, port, users: oboUsers, audience: OBO_AUDIENCE },
      ...(options.accessTokenSeconds !== undefined && { accessTokenSeconds: options.accessTokenSeconds }),
      ...(options.idTokenSeconds !== undefined && { idTokenSeconds: options.idTokenSeconds }),
      rotateOnExchange: options.rotateOnExchange ?? false,
      clients: [
        {
          ...{ id: 'behalf', secret: SECRETS.login, redirectUris: [callback.href] },
          idJagClients: { [as.issuer]: WIKI_CLIENT, [otherAs.issuer]: WIKI_CLIENT },
        },
      ],
      resources: [{ id: 'api://wiki', locations: [wiki.url], scopes: [SCOPE], consentedBy: ['ada', 'uma'] }],
    });
    started.idp = idp;
    closers.push(() => idp.close());
    return {
      ...gateway,
      ...{ ca, idp, as, otherAs, wiki, close },
      token: (user) => idp.tokens.mint({ user }),
    };
  } catch (error) {
    await close();
    throw error;
  }
}
