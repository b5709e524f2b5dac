import type { DevUser } from '@behalf/devidp';
import type { ModelScript } from '@behalf/devidp/sample';
import { systemClock, type Clock } from '@behalf/kernel';
import {
  guardedMcpServer,
  startAuthorizationServer,
  type AuthorizationServer,
  type GuardedMcpServer,
} from '@behalf/testkit';
import type { Page } from 'playwright-core';
import { askRest } from './webRest.ts';
import { startWebScene, type WebScene } from './webScene.ts';

/** The product with a server at which each user signs in by themselves. */
export interface ConnectScene extends WebScene {
  /** Where they do so. It asks each time, with Allow and Deny. */
  readonly authorization: AuthorizationServer;
  readonly notes: GuardedMcpServer;
  /** How often a browser came to the authorization server to be asked. */
  readonly asked: () => number;
  /** Lets the time of the gateway go on. */
  readonly later: (ms: number) => void;
}

/** One for each story, so that nobody finds what another left behind. */
const people: readonly DevUser[] = [
  'ada',
  'bea',
  'cem',
  'dov',
  'eva',
  'fay',
  'gil',
  'hal',
  'ida',
  'jon',
  'kim',
].map((id) => ({
  id,
  email: `${id}@example.test`,
  name: id,
  roles: [id === 'ada' ? 'ADMIN' : 'USER'],
  groups: ['staff'],
}));

/** More servers of the file, by what they need. */
export interface MoreServers {
  /** Of `mcpServers`, indented by two. */
  readonly yaml: (authorization: AuthorizationServer) => Promise<{ yaml: string; urls: readonly string[] }>;
}

export async function startConnectScene(
  script: ModelScript = () => [],
  more?: MoreServers,
): Promise<ConnectScene> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const authorization = await startAuthorizationServer({ consent: 'ask' });
    closers.push(() => authorization.close());
    const notes = await startNotes(authorization);
    closers.push(() => notes.close());
    const others = (await more?.yaml(authorization)) ?? { yaml: '', urls: [] };
    let ahead = 0;
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead };
    const scene = await startWebScene({
      ...{ script, clock, users: people },
      servers: notesYaml('notes', 'The notes', notes) + others.yaml,
      addresses: [notes.url, authorization.issuer, ...others.urls].map((url) => new URL(url).host),
    });
    closers.push(() => scene.close());
    return {
      ...scene,
      ...{ authorization, notes, close },
      asked: () => authorization.received('authorize').length,
      later: (ms) => void (ahead += ms),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A server with one tool, for whoever has a token of that authorization server. */
export function startNotes(authorizationServer: AuthorizationServer): Promise<GuardedMcpServer> {
  const inputSchema = {
    type: 'object',
    properties: { text: { type: 'string', title: 'Text' } },
    required: ['text'],
  };
  return guardedMcpServer({
    ...{ era: 'legacy', authorizationServer },
    tools: [
      {
        ...{ name: 'note', description: 'Keeps a note', inputSchema },
        handler: ({ text }) => ({ content: [{ type: 'text', text: `kept: ${String(text)}` }] }),
      },
    ],
  });
}

/** Its entry in the file. */
export function notesYaml(name: string, title: string, { url }: GuardedMcpServer): string {
  return `  ${name}: { type: streamable-http, title: ${title}, url: '${url}', requiresOAuth: true }\n`;
}

/** Connects a server as whoever is signed in in this window, where the authorization server asks nothing. */
export async function connectQuietly(page: Page, server: string): Promise<void> {
  const { connectUrl } = await askRest(page, 'POST', `/api/mcp/${server}/oauth/start`, {});
  await page.goto(String(connectUrl));
  await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
}

/** Presses what opens the window of a sign-in, and gives that window once the authorization server asks in it. */
export async function openWindow(page: Page, press: () => Promise<unknown>): Promise<Page> {
  const [opened] = await Promise.all([page.waitForEvent('popup'), press()]);
  await opened.getByRole('button', { name: 'Allow' }).waitFor();
  return opened;
}

/** Says yes or no there. */
export async function decide(opened: Page, word: 'Allow' | 'Deny'): Promise<void> {
  await opened.getByRole('button', { name: word }).click();
}
