import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertDevelopment } from '../assertDevelopment.ts';
import { type DevIdp, createDevIdp } from '../createDevIdp.ts';
import { type DevAuthority, createDevAuthority } from '../devAuthority.ts';
import { type SampleServer, createSampleServer } from '../sample/createSampleServer.ts';
import { demoScript } from '../sample/demoScript.ts';
import { type ScriptedModel, startScriptedModel } from '../sample/scriptedModel.ts';
import {
  DEMO_AUDIENCE,
  DEMO_MODEL,
  DEMO_TENANT,
  createDemoLoginClient,
  demoClient,
  demoResources,
  demoUsers,
  renderDemoYaml,
} from './demoData.ts';

export interface DemoOptions {
  /** True if NODE_ENV is `production`: the start fails. */
  isProduction: boolean;
  /** 0 or absent selects a free port. */
  ports?: { gateway?: number; idp?: number; mail?: number; notes?: number; model?: number };
  /** Node arguments that start the gateway. Default: those of `npm start`. */
  command?: readonly string[];
  /** Added to the gateway's environment. */
  env?: Readonly<Record<string, string>>;
  /** Cancels the start. */
  signal?: AbortSignal;
  onError?: (error: unknown) => void;
}

/** Everything that On-Behalf-Of needs, on this machine: a provider, two servers, a model and the gateway. */
export interface Demo {
  readonly idp: DevIdp;
  readonly ca: DevAuthority;
  /** Uses the Entra protocol. */
  readonly mail: SampleServer;
  /** Uses RFC 8693. */
  readonly notes: SampleServer;
  /** A scripted model for the chat. */
  readonly model: ScriptedModel;
  readonly gateway: DemoGateway;
  readonly directory: string;
  readonly caFile: string;
  /** Writes a user's access token to a file and returns its path. */
  tokenFile(userId: string): Promise<string>;
  /** Stops everything and removes the directory. */
  close(): Promise<void>;
}

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const HOST = '127.0.0.1';

export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { isProduction, ports = {}, onError = () => undefined } = options;
  assertDevelopment({ isProduction, host: HOST });
  // In the order of closing.
  const disposables: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const dispose of disposables.splice(0)) await dispose().catch(onError);
  };
  try {
    const directory = await mkdtemp(join(tmpdir(), 'behalf-demo-'));
    disposables.unshift(() => rm(directory, { recursive: true, force: true }));
    const ca = await createDevAuthority();
    const caFile = await ca.writeCaFile(directory);
    // The provider needs the redirect URI before the gateway runs.
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

/** The gateway in a separate process. */
export interface DemoGateway {
  readonly url: string;
  /** Returns all output so far. */
  output(): string;
  /** Resolves with the exit code when the process ends. */
  readonly exited: Promise<number | null>;
  /** Stops the process gracefully, then forcibly after a timeout. */
  stop(): Promise<number | null>;
}

interface DemoGatewayParts {
  /** Node arguments that start the gateway. */
  command: readonly string[];
  directory: string;
  env: Readonly<Record<string, string>>;
  /** Cancels the start. */
  signal?: AbortSignal | undefined;
}

/** The first start includes a build. */
const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 15_000;
/** Keeps the end of the output, which explains a failure. */
const MAX_OUTPUT_LENGTH = 1_000_000;

export async function startDemoGateway({
  command,
  directory,
  env,
  signal,
}: DemoGatewayParts): Promise<DemoGateway> {
  if (signal?.aborted) throw createGatewayError('start was aborted', '');
  const child = spawn(process.execPath, [...command], {
    cwd: directory,
    // The caller's environment is not inherited: a MONGO_URI must not decide which database the demo uses.
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // In its own process group, so that Ctrl-C reaches it only through the demo, which first stops the gateway and
    // then its dependencies.
    detached: true,
  });
  let output = '';
  const killOnExit = () => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const exited = once(child, 'close').then(([code]) => {
    process.removeListener('exit', killOnExit);
    return code as number | null;
  });
  const kill = (signal: NodeJS.Signals) => void (child.exitCode ?? child.kill(signal));
  const stop = async () => {
    kill('SIGTERM');
    const timeout = setTimeout(() => kill('SIGKILL'), STOP_TIMEOUT_MS);
    const code = await exited;
    clearTimeout(timeout);
    return code;
  };

  const listeningUrl = new Promise<string>((resolve, reject) => {
    const timeout = setTimeout(
      () => reject(createGatewayError('did not start in time', output)),
      START_TIMEOUT_MS,
    );
    const onOutput = (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT_LENGTH);
      const url = /is listening on (http:\/\/[^\s"]+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timeout);
      resolve(url);
    };
    child.stdout.setEncoding('utf8').on('data', onOutput);
    child.stderr.setEncoding('utf8').on('data', onOutput);
    signal?.addEventListener('abort', () => reject(createGatewayError('start was aborted', '')), {
      once: true,
    });
    void exited.then(() => {
      clearTimeout(timeout);
      reject(createGatewayError('ended', output));
    });
  });
  try {
    return { url: await listeningUrl, output: () => output, exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createGatewayError(event: string, output: string): Error {
  return new Error(`The gateway ${event}:\n${output}`);
}

/** Three examples with their commands and output. */
export async function renderDemoInstructions(demo: Demo): Promise<string> {
  const { gateway, idp, caFile, directory } = demo;
  const [ada, uma] = [await demo.tokenFile('ada'), await demo.tokenFile('uma')];
  const renderCall = (tokenFile: string, server: string) =>
    `curl -s -i -X POST ${gateway.url}/api/mcp/servers/${server}/tools/whoami/call \\
       -H "Authorization: Bearer $(cat ${tokenFile})"`;
  const switchesCommand = `curl -s --cacert ${caFile} ${idp.issuer}/dev/switches`;
  return `
Everything runs on this machine and is removed after Ctrl-C. Configuration: ${directory}/librechat.yaml

1. Sign in. Open ${gateway.url}/oauth/openid and choose "Ada Admin". The provider's certificate is new and
   not trusted, so the browser shows a warning. After the sign-in, open ${gateway.url}/api/mcp/tools: it lists the tools
   of both servers, read with your own tokens. No consent page is needed.

2. Call a tool on behalf of a user. The token is issued for the gateway; each server receives an exchanged token:

     ${renderCall(ada, 'mail')}

   "You are Ada Admin (ada). The token is for mail-api: Mail.Read Mail.Send."  (Entra On-Behalf-Of, through MSAL)

     ${renderCall(uma, 'notes')}

   "You are Uma User (uma). The token is for notes-api: notes.read."  (RFC 8693)

3. Let the provider fail. It throttles token requests for Uma only:

     ${switchesCommand} -H 'Content-Type: application/json' \\
       -d '{"kind":"throttle","retryAfterSeconds":5,"user":"uma"}'
     ${renderCall(uma, 'mail')}

   503 with Retry-After: 5, and nothing was sent to the server. Ada's calls still work. Remove the failure:

     ${switchesCommand} -X DELETE

   Five seconds later Uma's call works again.
`;
}
