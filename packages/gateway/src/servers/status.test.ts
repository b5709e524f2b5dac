import { describe, expect, test } from '@jest/globals';
import { createCredentialSummary } from '../../test/diagnoseRig.ts';
import { adaUser, captureRejection, createToolcallRig, defineServer } from '../../test/toolcallRig.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import type { ConnectionState } from '../connections/connectionManager.ts';
import { principalKey } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { InspectionState } from './inspection.ts';
import { type StatusParts, getServerStatus, getServerStatuses } from './status.ts';

const customUserVars = { A: { title: 'A', description: '' }, B: { title: 'B', description: '' } };
const connected: ConnectionState = { connection: 'connected' };
const skipped: InspectionState = { kind: 'skipped' };

function statusRig(servers: readonly ServerSnapshot[]) {
  const rig = createToolcallRig(servers);
  const requests: string[] = [];
  const whole = Object.assign(rig, {
    requests,
    connection: connected,
    state: skipped,
    isPending: false,
    credentials: [] as CredentialSummary[],
    flags: (_name: string): Promise<Record<string, boolean>> => Promise.resolve({}),
  });
  const parts: StatusParts = {
    ...rig.parts,
    connections: {
      state(_server, principal) {
        requests.push(principal);
        return whole.connection;
      },
    },
    inspectionScheduler: { getState: () => whole.state },
    variables: { readSetFlags: ({ name }) => whole.flags(name) },
    flows: { isPending: async () => whole.isPending },
    vault: { list: async () => whole.credentials },
  };
  return Object.assign(whole, { status: parts });
}

const refused = (code: 'MCP_CREDENTIAL_REJECTED' | 'MCP_UNREACHABLE'): InspectionState => ({
  kind: 'failed',
  code,
  since: 0,
  retryAt: 7,
});

describe('how a server stands', () => {
  test('an active credential counts as authorized, even while another sign-in is pending', async () => {
    const rig = statusRig([defineServer('own', { requiresOAuth: true }, { source: 'user' })]);
    const read = async () => (await getServerStatus(rig.status, adaUser, 'own')).authorizationState;
    expect(await read()).toBe('needs_authorization');
    rig.isPending = true;
    expect(await read()).toBe('authorizing');
    rig.credentials = [createCredentialSummary({ status: 'rejected' })];
    expect(await read()).toBe('authorizing');
    rig.credentials = [createCredentialSummary()];
    expect(await read()).toBe('authorized');
  });

  test('a server that is sent exchanged tokens never asks for a sign-in', async () => {
    const server = defineServer('own', { requiresOAuth: true, obo: { scopes: 'api://x/.default' } });
    const rig = statusRig([server]);
    rig.state = refused('MCP_CREDENTIAL_REJECTED');
    expect(await getServerStatus(rig.status, adaUser, 'own')).toMatchObject({
      requiresOAuth: false,
      authorizationState: 'not_required',
    });
  });

  test('a sign-in is needed where the file or the server says so', async () => {
    for (const [definition, state, needed] of [
      [{ requiresOAuth: true }, { kind: 'skipped' }, true],
      [{ oauth: { client_id: 'x' } }, { kind: 'skipped' }, true],
      [{}, refused('MCP_CREDENTIAL_REJECTED'), true],
      [{}, refused('MCP_UNREACHABLE'), false],
      [{}, { kind: 'pending' }, false],
      [{ requiresOAuth: false }, refused('MCP_CREDENTIAL_REJECTED'), false],
      [{ headers: { 'X-Api-Key': 'k' } }, refused('MCP_CREDENTIAL_REJECTED'), false],
    ] as const) {
      const rig = statusRig([defineServer('own', definition)]);
      rig.connection = { connection: 'disconnected' };
      rig.state = state;
      const response = await getServerStatus(rig.status, adaUser, 'own');
      expect([definition, state.kind, response.requiresOAuth, response.authorizationState]).toEqual([
        definition,
        state.kind,
        needed,
        needed ? 'needs_authorization' : 'not_required',
      ]);
    }
  });

  test('a server that serves is well, whatever the look before found', async () => {
    const rig = statusRig([defineServer('own')]);
    rig.state = refused('MCP_CREDENTIAL_REJECTED');
    expect(await getServerStatus(rig.status, adaUser, 'own')).toEqual({
      requiresOAuth: false,
      connectionState: 'connected',
      authorizationState: 'not_required',
    });
  });

  test('values that are missing are told, all or not', async () => {
    for (const [flags, state] of [
      [{ A: true, B: false }, 'needs_configuration'],
      [{ A: false, B: false }, 'needs_configuration'],
      [{ A: true, B: true }, 'configured'],
    ] as const) {
      const rig = statusRig([defineServer('own', { customUserVars })]);
      rig.flags = async () => flags;
      expect((await getServerStatus(rig.status, adaUser, 'own')).configurationState).toBe(state);
    }
    const plain = statusRig([defineServer('own')]);
    plain.flags = () => Promise.reject(new Error('nobody asks'));
    expect('configurationState' in (await getServerStatus(plain.status, adaUser, 'own'))).toBe(false);
  });

  test('one that cannot be told keeps no other from being told', async () => {
    const rig = statusRig([
      defineServer('broken', { customUserVars }),
      defineServer('exchanged', { customUserVars, requiresOAuth: true, obo: { scopes: 's' } }),
      defineServer('well'),
    ]);
    rig.flags = () => Promise.reject(new Error('the planted store is down'));
    const response = await getServerStatuses(rig.status, adaUser);
    expect(response).toMatchObject({
      broken: { connectionState: 'error', authorizationState: 'error', code: 'INTERNAL' },
      exchanged: { requiresOAuth: false, code: 'INTERNAL' },
      well: { connectionState: 'connected', authorizationState: 'not_required' },
    });
    expect(JSON.stringify(response)).not.toContain('planted');
    await expect(getServerStatus(rig.status, adaUser, 'broken')).rejects.toThrow();
  });

  test('it is the caller’s own state that is told, with its code and its time', async () => {
    const rig = statusRig([defineServer('own', { headers: { 'x-chat': '{{LIBRECHAT_BODY_MESSAGEID}}' } })]);
    rig.connection = { connection: 'error', code: 'MCP_BREAKER_OPEN', retryAt: 99 };
    expect(await getServerStatus(rig.status, adaUser, 'own')).toEqual({
      requiresOAuth: false,
      requestScoped: true,
      connectionState: 'error',
      authorizationState: 'not_required',
      error: 'The server failed repeatedly',
      code: 'MCP_BREAKER_OPEN',
      retryAt: 99,
    });
    expect(rig.requests).toEqual([principalKey(adaUser)]);
    const shared = statusRig([defineServer('own')]);
    shared.state = refused('MCP_UNREACHABLE');
    shared.connection = { connection: 'disconnected' };
    expect(await getServerStatus(shared.status, adaUser, 'own')).toMatchObject({
      code: 'MCP_UNREACHABLE',
      retryAt: 7,
    });
  });

  test('the status tells since when something is wrong, by its first failure', async () => {
    const rig = statusRig([defineServer('own')]);
    const since = async () => (await getServerStatus(rig.status, adaUser, 'own')).since;
    expect(await since()).toBeUndefined();
    const failed = { kind: 'failed', code: 'MCP_UNREACHABLE', since: 5, retryAt: 7 } as const;
    for (const [connection, state, expected] of [
      [{ connection: 'disconnected' }, failed, 5],
      [{ connection: 'error', code: 'MCP_UNREACHABLE', since: 9 }, failed, 5],
      [{ connection: 'error', code: 'MCP_UNREACHABLE', since: 3 }, failed, 3],
      [{ connection: 'error', code: 'MCP_BREAKER_OPEN', since: 9, retryAt: 99 }, skipped, 9],
      // What serves is well.
      [{ connection: 'connected' }, failed, undefined],
      [{ connection: 'connecting' }, { kind: 'pending' }, undefined],
    ] as const) {
      Object.assign(rig, { connection, state });
      expect([connection, await since()]).toEqual([connection, expected]);
    }
  });

  test('what is not seen is not told, and a role that may not is refused', async () => {
    const rig = statusRig([defineServer('own'), defineServer('hidden')]);
    rig.canSee = (_principal, { name }) => name !== 'hidden';
    expect(Object.keys(await getServerStatuses(rig.status, adaUser))).toEqual(['own']);
    const ask = async (name: string) => getServerStatus(rig.status, adaUser, name);
    expect(await captureRejection(ask('hidden'))).toEqual(await captureRejection(ask('absent')));
    const guest = { ...adaUser, role: 'GUEST' };
    expect(await captureRejection(getServerStatuses(rig.status, guest))).toMatchObject({
      code: 'MCP_FORBIDDEN',
    });
  });
});
