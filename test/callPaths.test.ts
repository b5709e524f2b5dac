import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Session, type Profiler } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { repositoryRoot } from '../tools/sources.ts';
import { startOboRig, type OboRig } from './scenarios/oboRig.ts';

const OWN_CODE =
  /^(?:api|packages\/(?:contracts|egress|gateway|kernel|settings|stores))\/src\/(?!.*\.test\.ts)/;
const USERS = ['ada', 'uma', 'gil'];

describe('the files on the path of a call', () => {
  let upstream: ScriptedHttpServer;
  let rig: OboRig;
  const profiler = new Session();
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    upstream = await scriptedHttpServer({
      era: 'modern',
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
    });
    rig = await startOboRig({
      provider: 'token-exchange',
      yaml: () => `  echo: { type: streamable-http, url: '${upstream.url}' }\n`,
      allowedAddresses: [new URL(upstream.url).host],
    });
    profiler.connect();
    await profiler.post('Profiler.enable');
    await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }, 60_000);

  afterAll(async () => {
    profiler.disconnect();
    await rig?.close();
    await upstream?.close();
  });

  test('the architecture page lists the files of a warm REST call and of a cold OBO call', async () => {
    // Work that has nothing to do with the call can run at the same time. It does not run during each of several calls.
    const warm = await measureRepeatedly(['ada', 'ada', 'ada', 'ada', 'ada', 'ada'], 'echo', 'echo', 3);
    const cold = await measureRepeatedly(USERS, 'mail', 'whoami', 1);
    const paths = { warmRestCall: warm, coldOboCall: cold };
    if (process.env['BEHALF_TEST_CALL_PATHS'] !== undefined)
      await writeFile(process.env['BEHALF_TEST_CALL_PATHS'], `${JSON.stringify(paths, null, 2)}\n`);
    const listed = readListedPaths();
    expect(listed.warmRestCall.toSorted()).toEqual(warm);
    expect(listed.coldOboCall.toSorted()).toEqual(cold.filter((file) => !warm.includes(file)));
  }, 60_000);

  /** Calls the tool as each user. Returns the files that run in every call after the first `warmUpCalls`. */
  async function measureRepeatedly(
    users: readonly string[],
    server: string,
    tool: string,
    warmUpCalls: number,
  ): Promise<string[]> {
    const measured: Set<string>[] = [];
    for (const user of users) measured.push(await measureCall(user, server, tool));
    const [first = new Set(), ...others] = measured.slice(warmUpCalls);
    return [...first].filter((file) => others.every((files) => files.has(file))).sort();
  }

  async function measureCall(user: string, server: string, tool: string): Promise<Set<string>> {
    const token = tokens.get(user) ?? rig.mintToken(user);
    tokens.set(user, token);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    await profiler.post('Profiler.takePreciseCoverage');
    const response = await fetch(new URL(`/api/mcp/servers/${server}/tools/${tool}/call`, rig.url), {
      method: 'POST',
      headers,
      body: JSON.stringify({ arguments: {} }),
    });
    const text = await response.text();
    const { result } = await profiler.post('Profiler.takePreciseCoverage');
    expect([response.status, text.slice(0, 300)]).toEqual([
      200,
      expect.not.stringContaining('"isError":true'),
    ]);
    return new Set(
      result
        .filter(hasRun)
        .map(toPath)
        .filter((path) => OWN_CODE.test(path)),
    );
  }
});

/** The files that ARCHITECTURE.md lists: of a warm call, and those that a cold OBO call runs in addition. */
function readListedPaths(): { warmRestCall: string[]; coldOboCall: string[] } {
  const page = readFileSync(join(repositoryRoot, 'ARCHITECTURE.md'), 'utf8');
  const [, section = ''] = page.split('### Files on the path of a call');
  const [warm = '', cold = ''] = (section.split(/^##+ /m)[0] ?? '').split('A first call that exchanges');
  const listFiles = (text: string) =>
    [...text.matchAll(/`((?:api|packages)\/[^`]+\.ts)`/g)].map(([, path = '']) => path);
  return { warmRestCall: listFiles(warm), coldOboCall: listFiles(cold) };
}

/** Whether a function other than the module itself ran. */
function hasRun({ functions }: Profiler.ScriptCoverage): boolean {
  return functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0);
}

function toPath({ url }: Profiler.ScriptCoverage): string {
  return relative(repositoryRoot, url.startsWith('file:') ? fileURLToPath(url) : url);
}
