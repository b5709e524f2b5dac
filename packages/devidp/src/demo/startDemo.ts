import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDevIdp, type DevIdp } from '../createDevIdp.ts';
import { assertDevelopment } from '../assertDevelopment.ts';
import { createSampleServer, type SampleServer } from '../sample/createSampleServer.ts';
import { demoScript } from '../sample/demoScript.ts';
import { startScriptedModel, type ScriptedModel } from '../sample/scriptedModel.ts';
import { createDevAuthority, type DevAuthority } from '../tls/devAuthority.ts';
import {
  DEMO_AUDIENCE,
  DEMO_MODEL,
  DEMO_TENANT,
  demoClient,
  createDemoLoginClient,
  demoResources,
  demoUsers,
} from './demoData.ts';
import { renderDemoYaml } from './demoYaml.ts';
import { startDemoGateway, type DemoGateway } from './demoGateway.ts';

export interface DemoOptions {
  /** True where NODE_ENV says so: nothing starts then. */
  isProduction: boolean;
  /** 0 or absent: any free one. */
  ports?: { gateway?: number; idp?: number; mail?: number; notes?: number; model?: number };
  /** Arguments of Node that start the gateway; absent: what `npm start` runs. */
  command?: readonly string[];
  /** Over the gateway's environment. */
  env?: Readonly<Record<string, string>>;
  /** Gives the start up. */
  signal?: AbortSignal;
  onError?: (error: unknown) => void;
}

/** Everything that On-Behalf-Of takes, on this machine: a provider, two servers, a model and the gateway between them. */
export interface Demo {
  readonly idp: DevIdp;
  readonly ca: DevAuthority;
  /** By Entra's way to exchange. */
  readonly mail: SampleServer;
  /** By RFC 8693. */
  readonly notes: SampleServer;
  /** A script in place of a model, for the chat. */
  readonly model: ScriptedModel;
  readonly gateway: DemoGateway;
  readonly directory: string;
  readonly caFile: string;
  /** A user's own token, as a sign-in gives it: the path of a file. */
  tokenFile(userId: string): Promise<string>;
  /** Ends all of it and removes the directory. */
  close(): Promise<void>;
}

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const HOST = '127.0.0.1';

export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { isProduction, ports = {}, onError = () => undefined } = options;
  assertDevelopment({ isProduction, host: HOST });
  // In the order in which they are closed.
  const disposables: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const dispose of disposables.splice(0)) await dispose().catch(onError);
  };
  try {
    const directory = await mkdtemp(join(tmpdir(), 'behalf-demo-'));
    disposables.unshift(() => rm(directory, { recursive: true, force: true }));
    const ca = await createDevAuthority();
    const caFile = await ca.writeCaFile(directory);
    // The provider must know where people are sent back to before the gateway runs.
    const port = ports.gateway || (await freePort());
    const idp = await createDevIdp({
      ...{ isProduction, port: ports.idp ?? 0, https: { ca }, tenant: DEMO_TENANT, onError },
      ...{ users: demoUsers, clients: [createDemoLoginClient(port)], audience: DEMO_AUDIENCE },
      resources: Object.values(demoResources),
    });
    disposables.unshift(() => idp.close());
    const startServer = async (name: 'mail' | 'notes') => {
      const { audience, scopes } = demoResources[name];
      const server = await createSampleServer({
        ...{ isProduction, name, idp, audience, scopes, port: ports[name] ?? 0, https: { ca }, onError },
      });
      disposables.unshift(() => server.close());
      return server;
    };
    const [mail, notes] = [await startServer('mail'), await startServer('notes')];
    const model = await startScriptedModel({
      ...{ script: demoScript, models: [DEMO_MODEL], port: ports.model ?? 0 },
    });
    disposables.unshift(() => model.close());

    const { entra, tokenEndpoint } = idp;
    if (!entra) throw new TypeError('The demo needs a tenant.');
    const yaml = join(directory, 'librechat.yaml');
    const urls = { mail: mail.url, notes: notes.url, model: model.url };
    await writeFile(yaml, renderDemoYaml({ entra, tokenEndpoint, caFile, ...urls }));
    const gateway = await startDemoGateway({
      command: options.command ?? [join(root, 'tools/start.mjs')],
      ...{ directory, signal: options.signal },
      env: {
        ...{ HOST, PORT: String(port), CONFIG_PATH: yaml, BEHALF_DATA_DIR: join(directory, 'data') },
        ...{ OPENID_ISSUER: entra.issuer, OPENID_AUDIENCE: DEMO_AUDIENCE },
        ...{ OPENID_CLIENT_ID: demoClient.id, OPENID_CLIENT_SECRET: demoClient.secret },
        OPENID_SCOPE: `openid profile email ${DEMO_AUDIENCE}/access_as_user`,
        ...options.env,
      },
    });
    disposables.unshift(() => gateway.stop());

    return {
      ...{ idp, ca, mail, notes, model, gateway, directory, caFile, close },
      async tokenFile(userId) {
        const path = join(directory, `${userId}.token`);
        await writeFile(path, entra.tokens.mint({ user: userId }), { mode: 0o600 });
        return path;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, HOST, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
