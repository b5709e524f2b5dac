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
import { OBO_AUDIENCE, oboUsers } from './oboRig.ts';

export const WIKI_CLIENT = 'behalf-at-wiki';
export const CLIENT_SECRETS = { login: 'secret-of-the-gateway', wiki: 'secret-at-the-other-wiki' };
const WIKI_SCOPE = 'wiki.read';

/** A company's identity provider, an MCP server of somebody else's, and the authorization server of that one. */
export interface IdJagRig extends InProcessGateway {
  readonly ca: DevAuthority;
  readonly idp: DevIdp;
  /** Takes assertions of our client by a key. */
  readonly resourceServer: ResourceAs;
  /** Takes them by a secret; the same server's users are never sent there. */
  readonly otherAuthorizationServer: ResourceAs;
  readonly wiki: SampleServer;
  /** A token of this user for the gateway, as a chat platform presents it. */
  readonly mintToken: (user: string) => string;
}

export interface IdJagRigOptions {
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

export async function startIdJagRig(options: IdJagRigOptions = {}): Promise<IdJagRig> {
  const directory = await mkdtemp(join(tmpdir(), 'behalf-id-jag-'));
  const disposables: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const dispose of disposables.splice(0).reverse()) await dispose();
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
    const trustedIssuers = {
      issuers: [origin],
      getPublicKeys: () => started.idp?.getPublicKeys() ?? { keys: [] },
    };
    const commonOptions = { isProduction: false, https: { ca } };
    const resourceServer = await createResourceAs({
      ...{ ...commonOptions, idp: trustedIssuers, clients: [{ id: WIKI_CLIENT, certificates: [cert] }] },
    });
    disposables.push(() => resourceServer.close());
    const otherAuthorizationServer = await createResourceAs({
      ...{
        ...commonOptions,
        idp: trustedIssuers,
        clients: [{ id: WIKI_CLIENT, secret: CLIENT_SECRETS.wiki }],
      },
    });
    disposables.push(() => otherAuthorizationServer.close());
    const wikiPort = await freePort();
    const url = `https://127.0.0.1:${wikiPort}/mcp`;
    const wiki = await createSampleServer({
      ...{
        ...commonOptions,
        name: 'wiki',
        port: wikiPort,
        idp: resourceServer,
        audience: url,
        scopes: [WIKI_SCOPE],
      },
    });
    disposables.push(() => wiki.close());
    const env = {
      OPENID_ISSUER: origin,
      OPENID_CLIENT_ID: 'behalf',
      OPENID_CLIENT_SECRET: CLIENT_SECRETS.login,
      OPENID_AUDIENCE: OBO_AUDIENCE,
      OPENID_SCOPE: 'openid profile email offline_access',
      RATE_LIMIT_CALLS: '100000',
      ...options.variables,
    };
    const [caJson, certificateJson, keyJson] = [caFile, certificateFile, privateKeyFile].map((file) =>
      JSON.stringify(file),
    );
    const yaml = `identityProviders:
  login: { type: token-exchange, caFile: ${caJson} }
  enterprise:
    type: id-jag${options.subject === undefined ? '' : `\n    subject: ${options.subject}`}
    caFile: ${caJson}
    resourceServers:
      - issuer: ${otherAuthorizationServer.issuer}
        clientId: ${WIKI_CLIENT}
        clientSecret: ${CLIENT_SECRETS.wiki}
        caFile: ${caJson}
      - issuer: ${resourceServer.issuer}
        clientId: ${WIKI_CLIENT}
        certificateFile: ${certificateJson}
        privateKeyFile: ${keyJson}
        caFile: ${caJson}
    targets: [{ scopes: [${WIKI_SCOPE}], origins: ['${wiki.origin}'] }]
mcpServers:
  wiki:
    type: streamable-http
    url: ${wiki.url}
    caFile: ${caJson}
    obo: { provider: enterprise, scopes: ${WIKI_SCOPE}${options.obo?.replace('$AS', resourceServer.issuer) ?? ''} }
mcpSettings:
  operatorAddresses: ['${new URL(wiki.url).host}']
`;
    const gateway = await startInProcess(env, yaml);
    disposables.push(() => gateway.close());
    const callback = new URL('/oauth/openid/callback', gateway.url);
    callback.hostname = 'localhost';
    const idp = await createDevIdp({
      ...{ ...commonOptions, port, users: oboUsers, audience: OBO_AUDIENCE },
      ...(options.accessTokenSeconds !== undefined && {
        accessTokenLifetimeSeconds: options.accessTokenSeconds,
      }),
      ...(options.idTokenSeconds !== undefined && { idTokenLifetimeSeconds: options.idTokenSeconds }),
      shouldRotateOnExchange: options.rotateOnExchange ?? false,
      clients: [
        {
          ...{ id: 'behalf', secret: CLIENT_SECRETS.login, redirectUris: [callback.href] },
          idJagClients: {
            [resourceServer.issuer]: WIKI_CLIENT,
            [otherAuthorizationServer.issuer]: WIKI_CLIENT,
          },
        },
      ],
      resources: [
        { id: 'api://wiki', locations: [wiki.url], scopes: [WIKI_SCOPE], consentedBy: ['ada', 'uma'] },
      ],
    });
    started.idp = idp;
    disposables.push(() => idp.close());
    return {
      ...gateway,
      ...{ ca, idp, resourceServer, otherAuthorizationServer, wiki, close },
      mintToken: (user) => idp.tokens.mint({ user }),
    };
  } catch (error) {
    await close();
    throw error;
  }
}
