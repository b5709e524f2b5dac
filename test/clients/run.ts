import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBehindGateway } from '../conformance/behindGateway.ts';
import { versionOf, withInspector, withRemote, type Entrance } from './clients.ts';
import { startWithProvider } from './person.ts';

/** Each lists the tools of the reference server through the gateway, and calls one. Whether all of them could. */
export async function runClients(): Promise<boolean> {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  );
  const servers = { everything: { command: process.execPath, args: [script, 'stdio'] } };
  const opened: { close(): Promise<void> }[] = [];
  const open = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
    const part = await opening;
    opened.push(part);
    return part;
  };
  let passed = true;

  async function check(name: string, work: () => Promise<void>, secret = ''): Promise<void> {
    const failure = await work().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    passed &&= failure === null;
    const told = secret === '' ? failure : failure?.replaceAll(secret, '…');
    process.stdout.write(failure === null ? `✓ ${name}\n` : `✗ ${name}: ${told}\n`);
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
    const gateway = await open(startBehindGateway(servers));
    const byKey: Entrance = {
      url: gateway.gatewayUrl('/mcp'),
      given: ['--header', `Authorization: Bearer ${gateway.key}`],
    };
    const provider = await open(startWithProvider(servers));
    const byOAuth: Entrance = { url: provider.url, given: [], accompany: provider.accompany };
    const inspector = `Inspector ${versionOf('@modelcontextprotocol/inspector')}`;
    const remote = `mcp-remote ${versionOf('mcp-remote')}`;
    const clients: Record<string, (home: string, entrance: Entrance) => Promise<void>> = {
      [`${inspector}, legacy`]: (home, entrance) => withInspector('legacy', home, entrance),
      [`${inspector}, modern`]: (home, entrance) => withInspector('modern', home, entrance),
      [remote]: withRemote,
    };
    for (const [name, use] of Object.entries(clients)) {
      await check(`${name}, with a key`, () => withHome((home) => use(home, byKey)), gateway.key);
      const before = provider.asked();
      await check(`${name}, with OAuth`, async () => {
        await withHome((home) => use(home, byOAuth));
        const times = provider.asked() - before;
        if (times !== 1) throw new Error(`Its user had to sign in ${times} times`);
      });
    }
  } finally {
    for (const part of opened.reverse()) await part.close();
  }
  return passed;
}
