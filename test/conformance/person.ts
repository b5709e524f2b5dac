import {
  callTool,
  findServer,
  listServer,
  listServerTools,
  readServer,
  SignInRequired,
  type UpstreamResponse,
  type Inbound,
  type JsonObject,
} from '@behalf/gateway';
import { sampleArguments } from './arguments.ts';
import type { ScenarioContext } from './definition.ts';
import { SERVER, type ConformanceGateway } from './gateway.ts';

/** Who is asked to sign in more often than this goes home. What must end sooner is for the gateway to end. */
const MOST_SIGN_INS = 6;

const MOST_LATE_LISTS = 2;

/** A sign-in that did not end well. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
}

/**
 * Somebody who uses whatever the server offers, signs in there whenever the gateway says that they must, and sends every form back
 * as it was filled in beforehand.
 */
export function createPerson({ callParts: asking, oauth, user }: ConformanceGateway) {
  const inbound: Inbound = {
    principal: user,
    door: 'mcp',
    signal: new AbortController().signal,
    peer: { era: 'legacy', capabilities: { elicitation: { form: {} } }, sendRequest: answerForm },
  };
  let signIns = 0;
  let lateLists = 0;

  async function signIn(widenedScopes: string | undefined): Promise<void> {
    signIns += 1;
    if (signIns > MOST_SIGN_INS) throw new SignInFailed('asked to sign in again and again');
    const { flows } = oauth;
    const server = findServer(asking, user, SERVER);
    const started = await flows.start(server, user, { bindsBrowser: true, widenedScopes });
    const mine = {
      flowId: started.flow.flowId,
      serverName: SERVER,
      principal: user,
      browserSecret: started.browserSecret ?? null,
    };
    const page = await flows.open(mine);
    const left = page.kind === 'ask' ? await flows.confirm({ ...mine, token: page.token }) : page;
    const sent = await fetch(left.url, { redirect: 'manual' });
    const back = new URL(sent.headers.get('location') ?? '', left.url);
    const { ok, error } = await flows.finish({
      serverName: SERVER,
      query: back.searchParams,
      principal: user,
      browserSecretOf: () => left.browserSecret,
    });
    // What the server makes of the new token shows when it is used.
    if (!ok && error !== 'probe_refused') throw new SignInFailed(error);
  }

  async function tools() {
    for (;;) {
      const { state, code, cause, tools: listed } = await listServerTools(asking, inbound, SERVER);
      if (state === 'connected') return listed;
      // A list waits five seconds for its server; on a busy machine that may be the suite's own fault.
      if (code === 'MCP_TIMEOUT' && (lateLists += 1) <= MOST_LATE_LISTS) continue;
      if (state !== 'needs_authorization') throw new Error(`${state}: ${code ?? ''}`, { cause });
      await signIn(cause instanceof SignInRequired ? cause.detail.scopes : undefined);
    }
  }

  async function call(tool: string, args: JsonObject): Promise<UpstreamResponse> {
    for (;;) {
      const answer = await callTool(asking, { server: SERVER, tool, args }, inbound);
      const needed = neededSignIn(answer);
      if (!needed) return answer;
      await signIn(needed.scopes);
    }
  }

  return {
    /** The tools that the scenario names, or each of the server's once; then its resources and prompts. */
    async useEverything({ toolCalls }: ScenarioContext): Promise<void> {
      const listed = await tools();
      const calls =
        toolCalls ??
        listed.map((tool) => ({ name: tool.name, arguments: sampleArguments(tool.inputSchema) }));
      for (const { name, arguments: args } of calls) await call(name, args);
      for (const { uri } of (await listServer(asking, SERVER, 'resources/list', inbound)).items)
        await readServer(asking, SERVER, { method: 'resources/read', params: { uri: String(uri) } }, inbound);
      for (const { name } of (await listServer(asking, SERVER, 'prompts/list', inbound)).items) {
        const params = { name: String(name), arguments: {} };
        await readServer(asking, SERVER, { method: 'prompts/get', params }, inbound);
      }
    },
  };
}

/** What the gateway says of a call that needs a sign-in first: as any chat reads it. */
function neededSignIn({ result }: UpstreamResponse): { readonly scopes?: string } | undefined {
  const meta = result['_meta'] as Readonly<Record<string, { scopes?: string } | undefined>> | undefined;
  return meta?.['behalf/auth'];
}

/** As the client of a person who leaves a form as it is: with its defaults (SEP-1034), and something that fits where there is none. */
function answerForm(method: string, { requestedSchema }: JsonObject): Promise<JsonObject> {
  if (method !== 'elicitation/create')
    return Promise.reject(new Error(`Nobody was to be asked for ${method}`));
  return Promise.resolve({ action: 'accept', content: sampleArguments(requestedSchema as JsonObject) });
}
