import {
  callTool,
  findServer,
  listServer,
  listServerTools,
  readServer,
  SignInRequired,
  type ServerOutcome,
  type Inbound,
  type JsonObject,
} from '@behalf/gateway';
import { sampleArguments } from './arguments.ts';
import type { ScenarioContext } from './definition.ts';
import { SERVER_NAME, type ConformanceGateway } from './gateway.ts';

/** Who is asked to sign in more often than this goes home. What must end sooner is for the gateway to end. */
const MAX_SIGN_INS = 6;

const MAX_LIST_TIMEOUTS = 2;

/** A sign-in that did not end well. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
}

/**
 * Somebody who uses whatever the server offers, signs in there whenever the gateway says that they must, and sends every form back
 * as it was filled in beforehand.
 */
export function createConformanceUser({ callParts, oauth, user }: ConformanceGateway) {
  const inbound: Inbound = {
    principal: user,
    door: 'mcp',
    signal: new AbortController().signal,
    peer: { era: 'legacy', capabilities: { elicitation: { form: {} } }, sendRequest: fillForm },
  };
  let signIns = 0;
  let listTimeouts = 0;

  async function signIn(widenedScopes: string | undefined): Promise<void> {
    signIns += 1;
    if (signIns > MAX_SIGN_INS) throw new SignInFailed('asked to sign in again and again');
    const { flows } = oauth;
    const server = findServer(callParts, user, SERVER_NAME);
    const started = await flows.start(server, user, { bindsBrowser: true, widenedScopes });
    const flowRequest = {
      flowId: started.flow.flowId,
      serverName: SERVER_NAME,
      principal: user,
      browserSecret: started.browserSecret ?? null,
    };
    const page = await flows.open(flowRequest);
    const opened = page.kind === 'ask' ? await flows.confirm({ ...flowRequest, token: page.token }) : page;
    const response = await fetch(opened.url, { redirect: 'manual' });
    const callbackUrl = new URL(response.headers.get('location') ?? '', opened.url);
    const { ok, error } = await flows.finish({
      serverName: SERVER_NAME,
      query: callbackUrl.searchParams,
      principal: user,
      browserSecretOf: () => opened.browserSecret,
    });
    // What the server makes of the new token shows when it is used.
    if (!ok && error !== 'probe_refused') throw new SignInFailed(error);
  }

  async function listTools() {
    for (;;) {
      const { state, code, cause, tools: tools } = await listServerTools(callParts, inbound, SERVER_NAME);
      if (state === 'connected') return tools;
      // A list waits five seconds for its server; on a busy machine that may be the suite's own fault.
      if (code === 'MCP_TIMEOUT' && (listTimeouts += 1) <= MAX_LIST_TIMEOUTS) continue;
      if (state !== 'needs_authorization') throw new Error(`${state}: ${code ?? ''}`, { cause });
      await signIn(cause instanceof SignInRequired ? cause.detail.scopes : undefined);
    }
  }

  async function callWithSignIn(tool: string, args: JsonObject): Promise<ServerOutcome> {
    for (;;) {
      const outcome = await callTool(callParts, { server: SERVER_NAME, tool, args }, inbound);
      if (outcome.kind !== 'auth_required') return outcome;
      await signIn(outcome.signIn.scopes);
    }
  }

  return {
    /** The tools that the scenario names, or each of the server's once; then its resources and prompts. */
    async useAllFeatures({ toolCalls }: ScenarioContext): Promise<void> {
      const tools = await listTools();
      const calls =
        toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: sampleArguments(tool.inputSchema) }));
      for (const { name, arguments: args } of calls) await callWithSignIn(name, args);
      for (const { uri } of (await listServer(callParts, SERVER_NAME, 'resources/list', inbound)).items)
        await readServer(
          callParts,
          SERVER_NAME,
          { method: 'resources/read', params: { uri: String(uri) } },
          inbound,
        );
      for (const { name } of (await listServer(callParts, SERVER_NAME, 'prompts/list', inbound)).items) {
        const params = { name: String(name), arguments: {} };
        await readServer(callParts, SERVER_NAME, { method: 'prompts/get', params }, inbound);
      }
    },
  };
}

/** As the client of a person who leaves a form as it is: with its defaults (SEP-1034), and something that fits where there is none. */
function fillForm(method: string, { requestedSchema }: JsonObject): Promise<JsonObject> {
  if (method !== 'elicitation/create')
    return Promise.reject(new Error(`Nobody was to be asked for ${method}`));
  return Promise.resolve({ action: 'accept', content: sampleArguments(requestedSchema as JsonObject) });
}
