import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGatewayProxy } from '../conformance/gatewayProxy.ts';
import { readVersion, checkInspector, checkRemote, type ClientEndpoint } from './clients.ts';
import { startGatewayWithProvider } from './gatewayWithProvider.ts';

/** Each lists the tools of the reference server through the gateway, and calls one. Whether all of them could. */
export async function runClients(): Promise<boolean> {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  );
  const servers = { everything: { command: process.execPath, args: [script, 'stdio'] } };
  const disposables: { close(): Promise<void> }[] = [];
  const track = async <T extends { close(): Promise<void> }>(pending: Promise<T>): Promise<T> => {
    const disposable = await pending;
    disposables.push(disposable);
    return disposable;
  };
  let allPassed = true;

  async function check(name: string, work: () => Promise<void>, secret = ''): Promise<void> {
    const failure = await work().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    allPassed &&= failure === null;
    const safeMessage = secret === '' ? failure : failure?.replaceAll(secret, '…');
    process.stdout.write(failure === null ? `✓ ${name}\n` : `✗ ${name}: ${safeMessage}\n`);
  }

  /** What they keep of an earlier run, or of another client's, must not help them. */
  async function withHome(work: (home: string) => Promise<void>): Promise<void> {
    const home = await mkdtemp(join(tmpdir(), 'behalf-clients-'));
    try {
      await work(home);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  try {
    const gateway = await track(startGatewayProxy(servers));
    const keyEndpoint: ClientEndpoint = {
      url: gateway.gatewayUrl('/mcp'),
      extraArgs: ['--header', `Authorization: Bearer ${gateway.key}`],
    };
    const provider = await track(startGatewayWithProvider(servers));
    const oauthEndpoint: ClientEndpoint = {
      url: provider.url,
      extraArgs: [],
      onOutput: provider.watchOutput,
    };
    const inspectorName = `Inspector ${readVersion('@modelcontextprotocol/inspector')}`;
    const remoteName = `mcp-remote ${readVersion('mcp-remote')}`;
    const clients: Record<string, (home: string, endpoint: ClientEndpoint) => Promise<void>> = {
      [`${inspectorName}, legacy`]: (home, endpoint) => checkInspector('legacy', home, endpoint),
      [`${inspectorName}, modern`]: (home, endpoint) => checkInspector('modern', home, endpoint),
      [remoteName]: checkRemote,
    };
    for (const [name, runClient] of Object.entries(clients)) {
      await check(`${name}, with a key`, () => withHome((home) => runClient(home, keyEndpoint)), gateway.key);
      const signInsBefore = provider.countSignIns();
      await check(`${name}, with OAuth`, async () => {
        await withHome((home) => runClient(home, oauthEndpoint));
        const signInCount = provider.countSignIns() - signInsBefore;
        if (signInCount !== 1) throw new Error(`Its user had to sign in ${signInCount} times`);
      });
    }
  } finally {
    for (const disposable of disposables.reverse()) await disposable.close();
  }
  return allPassed;
}
