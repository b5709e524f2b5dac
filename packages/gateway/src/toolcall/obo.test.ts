import { describe, expect, test } from '@jest/globals';
import {
  adaUser,
  defineServer,
  createCredential,
  captureRejection,
  createToolcallRig,
  requireServerOutcome,
} from '../../test/toolcallRig.ts';
import type { Credential } from '../credentials/credentials.ts';
import { ReauthNeeded } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Bearer } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { sendTaskRequest } from './tasks.ts';
import { callTool } from './callTool.ts';
import { completeServer, readServer } from './read.ts';
import { listServer, listTools } from './list.ts';

const reading = { method: 'resources/read', params: { uri: 'a:b' } } as const;

/** A server that is sent exchanged tokens, and a bearer that counts. */
function oboCallRig() {
  const server = defineServer('mail', { obo: { scopes: 'mail.read' } });
  const rig = createToolcallRig([server]);
  const counts = { tokens: 0, renewals: [] as unknown[] };
  const bearer: Bearer = {
    token: () => {
      counts.tokens += 1;
      return whole.token();
    },
    async renew(challenge) {
      counts.renewals.push(challenge);
      return whole.renew(counts.renewals.length);
    },
    hasRenewed: () => counts.renewals.length > 0,
    presentedTokens: () => ['secret-of-the-user'],
  };
  const own = {
    counts,
    bearer,
    server,
    token: (): string | Promise<string> => 'secret-of-the-user',
    renew: async (turn: number): Promise<boolean> => turn === 1,
    call: (more: Parameters<typeof rig.inbound>[0] = {}) =>
      callTool(rig.parts, { server: 'mail', tool: 'echo', args: {} }, rig.inbound(more)),
  };
  rig.credential = (): Credential => {
    const ready = createCredential(server, adaUser);
    if (ready.target.type === 'stdio') throw new Error('not ready');
    return { ...ready, target: { ...ready.target, bearer } };
  };
  const whole = Object.assign(rig, own);
  return whole;
}

const refused = () => new UpstreamError('unauthorized', { status: 401 });

describe('a call with an exchanged token', () => {
  test('a refusal costs one more token and one more try', async () => {
    const rig = oboCallRig();
    rig.answers = (_sent, turn) => {
      if (turn === 1) throw refused();
      return { content: [] };
    };
    expect(requireServerOutcome(await rig.call()).result).toEqual({ content: [] });
    expect(rig.calls()).toHaveLength(2);
    expect(rig.counts.renewals).toHaveLength(1);
    for (const { options } of rig.sent) expect(options.bearer).toBe(rig.bearer);
  });

  test('a second refusal is final, and that token is forgotten too', async () => {
    const rig = oboCallRig();
    rig.answers = () => {
      throw refused();
    };
    expect(await captureRejection(rig.call())).toMatchObject({ code: 'MCP_CREDENTIAL_REJECTED' });
    expect(rig.calls()).toHaveLength(2);
    expect(rig.counts.renewals).toHaveLength(2);
  });

  test('without another token there is no second try', async () => {
    const rig = oboCallRig();
    rig.renew = async () => false;
    rig.answers = () => {
      throw refused();
    };
    expect(await captureRejection(rig.call())).toMatchObject({ code: 'MCP_CREDENTIAL_REJECTED' });
    expect(rig.calls()).toHaveLength(1);
    rig.renew = () => Promise.reject(new GatewayError('OBO_TEMPORARY'));
    expect(await captureRejection(rig.call())).toMatchObject({ code: 'OBO_TEMPORARY' });
  });

  test('lists and reads recover the same way', async () => {
    const rig = oboCallRig();
    rig.tools = undefined;
    rig.answers = ({ method }, turn) => {
      if (turn === 1) throw refused();
      return method === 'tools/list' ? { tools: [{ name: 'echo' }] } : { prompts: [], contents: [] };
    };
    await listServer(rig.parts, 'mail', 'prompts/list', rig.inbound());
    rig.counts.renewals.length = 0;
    await readServer(rig.parts, 'mail', reading, rig.inbound());
    rig.counts.renewals.length = 0;
    expect((await listTools(rig.parts, rig.inbound()))[0]?.tools).toHaveLength(1);
    expect(rig.sent.map(({ method }) => method)).toEqual([
      ...['prompts/list', 'prompts/list', 'resources/read', 'resources/read', 'tools/list', 'tools/list'],
    ]);
  });

  test('what refuses anything else than the token is not repeated', async () => {
    for (const reason of ['forbidden', 'insufficient_scope', 'upstream_5xx', 'reset'] as const) {
      const rig = oboCallRig();
      rig.answers = () => {
        throw new UpstreamError(reason);
      };
      await captureRejection(rig.call());
      expect(rig.calls()).toHaveLength(1);
      expect(rig.counts.renewals).toEqual([]);
    }
    // Nobody waits any more.
    const rig = oboCallRig();
    rig.answers = () => {
      rig.leave();
      throw refused();
    };
    await captureRejection(rig.call());
    expect(rig.counts.renewals).toEqual([]);
  });

  test('without a token no connection is opened', async () => {
    const failures = [new GatewayError('OBO_TEMPORARY'), new GatewayError('MCP_OBO_FORBIDDEN')];
    for (const failure of failures) {
      const rig = oboCallRig();
      rig.token = () => Promise.reject(failure);
      expect(await captureRejection(rig.call())).toBe(failure);
      expect(await captureRejection(readServer(rig.parts, 'mail', reading, rig.inbound()))).toBe(failure);
      expect(await captureRejection(listServer(rig.parts, 'mail', 'prompts/list', rig.inbound()))).toBe(
        failure,
      );
      expect({ leases: rig.leases, sent: rig.sent }).toEqual({ leases: [], sent: [] });
      expect(rig.audited).toMatchObject([{ authority: undefined }, { authority: undefined }]);
    }
  });

  test('a server’s own words do not show the token', async () => {
    const rig = oboCallRig();
    rig.answers = () => {
      const rpc = { code: -32_000, message: 'no: Bearer secret-of-the-user' };
      throw new UpstreamError('rpc_error', { rpc });
    };
    const { result } = requireServerOutcome(await rig.call());
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).not.toContain('secret-of-the-user');
  });
});

describe('a sign-in that is needed here', () => {
  const needed = new ReauthNeeded('interaction_required', {
    code: 'OBO_CONSENT_REQUIRED',
    via: 'session',
    claims: '{"a":1}',
  });

  test('is a result for who has a session or a key', async () => {
    const rig = oboCallRig();
    rig.token = () => Promise.reject(needed);
    const outcome = await rig.call();
    expect(outcome).toMatchObject({
      kind: 'auth_required',
      signIn: { server: 'mail', reason: 'interaction_required', connectUrl: '/oauth/openid' },
    });
    expect(JSON.stringify(outcome)).not.toContain('"a"');
    expect(rig.audited).toMatchObject([{ outcome: 'refused', code: 'OBO_CONSENT_REQUIRED' }]);
    expect(rig.sent).toEqual([]);
  });

  test('is a 401 with what is missing for who came with a token', async () => {
    const rig = oboCallRig();
    const brought = new ReauthNeeded(needed.reason, { ...needed.detail, via: 'bearer' });
    rig.token = () => Promise.reject(brought);
    const principal = { ...adaUser, authentication: { via: 'bearer' } } as const;
    const error = { code: 'OBO_CONSENT_REQUIRED', challenge: { claims: '{"a":1}' } };
    expect(await captureRejection(rig.call({ principal }))).toMatchObject(error);
    for (const refused of await askedOtherwise(rig)) expect(refused).toMatchObject(error);
    expect(rig.audited.map(({ outcome, code }) => [outcome, code])).toEqual(
      Array(3).fill(['refused', 'OBO_CONSENT_REQUIRED']),
    );
  });

  test('is no 401 for anybody else, whatever was asked', async () => {
    const rig = oboCallRig();
    rig.token = () => Promise.reject(needed);
    for (const refused of await askedOtherwise(rig)) {
      expect(refused).toMatchObject({
        code: 'MCP_AUTHORIZATION_REQUIRED',
        challenge: undefined,
        signIn: { code: 'OBO_CONSENT_REQUIRED', reason: 'interaction_required', connectUrl: '/oauth/openid' },
      });
    }
    // Who runs the gateway reads what it was about.
    expect(rig.audited.map(({ action, code }) => [action, code])).toEqual([
      ['resource.read', 'OBO_CONSENT_REQUIRED'],
      ['task.get', 'OBO_CONSENT_REQUIRED'],
    ]);
  });

  /** Everything that is no call of a tool. */
  async function askedOtherwise(rig: ReturnType<typeof oboCallRig>): Promise<unknown[]> {
    const { parts } = rig;
    const ref = { type: 'ref/prompt', name: 'greet' };
    const task = { id: 't', server: 'mail', serverId: rig.server.id, tool: 'echo', targetFingerprint: '' };
    return [
      await captureRejection(readServer(parts, 'mail', reading, rig.inbound())),
      await captureRejection(completeServer(parts, 'mail', { ref, argument: {} }, rig.inbound())),
      await captureRejection(listServer(parts, 'mail', 'prompts/list', rig.inbound())),
      await captureRejection(sendTaskRequest(parts, { method: 'tasks/get', task }, rig.inbound())),
    ];
  }

  test('a list says so and shows what was known before', async () => {
    const rig = oboCallRig();
    expect(await listTools(rig.parts, rig.inbound())).toMatchObject([{ tools: [{ name: 'echo' }] }]);
    rig.token = () => Promise.reject(needed);
    expect(await listTools(rig.parts, rig.inbound())).toMatchObject([
      { state: 'needs_authorization', tools: [{ name: 'echo' }] },
    ]);
  });
});
