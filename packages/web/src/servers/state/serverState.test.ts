import type { ServerStatus } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import {
  type ToolListStatus,
  describeErrorCode,
  needsAttention,
  requiresServerSignIn,
  serverOrigin,
  stateDescription,
  stateLabel,
  toServerState,
} from './serverState.ts';

const well: ServerStatus = {
  requiresOAuth: false,
  connectionState: 'connected',
  authorizationState: 'not_required',
};

function kindOf(status: Partial<ServerStatus>, listed?: ToolListStatus, view = {}): string {
  return toServerState(view, { ...well, ...status }, listed).kind;
}

describe('how a server stands', () => {
  test('each answer of the gateway is one state', () => {
    expect(kindOf({})).toBe('connected');
    expect(kindOf({ connectionState: 'connecting' })).toBe('connecting');
    expect(kindOf({ connectionState: 'disconnected' })).toBe('idle');
    expect(kindOf({ connectionState: 'disconnected' }, undefined, { requestScoped: true })).toBe(
      'per_request',
    );
    expect(kindOf({ connectionState: 'disconnected', code: 'MCP_TIMEOUT' })).toBe('unreachable');
    expect(kindOf({ connectionState: 'error', code: 'MCP_UNREACHABLE' })).toBe('unreachable');
    expect(kindOf({ connectionState: 'error', code: 'MCP_PROTOCOL_ERROR' })).toBe('failing');
    expect(kindOf({ connectionState: 'error', code: 'OBO_REJECTED' })).toBe('needs_sign_in');
    expect(kindOf({ connectionState: 'error' })).toBe('unreachable');
    expect(kindOf({ connectionState: 'connecting', code: 'MCP_TIMEOUT' })).toBe('connecting');
    expect(kindOf({ connectionState: 'error', code: 'MCP_BREAKER_OPEN' })).toBe('paused');
    expect(kindOf({ connectionState: 'error', code: 'MCP_CREDENTIAL_REJECTED' })).toBe('refused');
    expect(kindOf({ requiresOAuth: true, authorizationState: 'needs_authorization' })).toBe('needs_sign_in');
    expect(kindOf({ configurationState: 'needs_configuration', connectionState: 'error' })).toBe(
      'needs_values',
    );
    expect(kindOf({ configurationState: 'configured' })).toBe('connected');
    expect(toServerState({}, null, undefined).kind).toBe('not_shared');
    expect(toServerState({}, undefined, undefined).kind).toBe('unknown');
  });

  test('the list of tools knows of a sign-in that the status does not', () => {
    const unsigned: ToolListStatus = { state: 'needs_authorization', code: 'OBO_SUBJECT_TOKEN_EXPIRED' };
    expect(kindOf({ connectionState: 'disconnected' }, unsigned)).toBe('needs_sign_in');
    expect(kindOf({}, unsigned)).toBe('needs_sign_in');
    expect(kindOf({ connectionState: 'error', code: 'MCP_UNREACHABLE' }, unsigned)).toBe('unreachable');
    const refused: ToolListStatus = { state: 'needs_authorization', code: 'MCP_CREDENTIAL_REJECTED' };
    expect(kindOf({}, refused)).toBe('connected');
    expect(kindOf({ connectionState: 'disconnected' }, refused)).toBe('refused');
    const forbidden: ToolListStatus = { state: 'unreachable', code: 'MCP_OBO_FORBIDDEN' };
    expect(kindOf({ connectionState: 'disconnected' }, forbidden)).toBe('failing');
    const perChat: ToolListStatus = { state: 'unreachable', code: 'REQUEST_INVALID' };
    expect(kindOf({ connectionState: 'disconnected' }, perChat, { requestScoped: true })).toBe('per_request');
    expect(kindOf({ connectionState: 'disconnected' }, { state: 'connected' })).toBe('idle');
    expect(requiresServerSignIn({ requiresOAuth: false }, { ...well, requiresOAuth: true })).toBe(true);
    expect(requiresServerSignIn({ requiresOAuth: false }, well)).toBe(false);
  });

  test('since when and until when are said, and what to do', () => {
    const now = Date.now();
    const since = now - 5 * 60_000;
    const failed = { connectionState: 'error', since, retryAt: now + 60_000 } as const;
    const breakerOnly = toServerState({}, { ...well, ...failed, code: 'MCP_BREAKER_OPEN' }, undefined);
    expect(breakerOnly).toEqual({ kind: 'paused', code: 'MCP_BREAKER_OPEN', since, retryAt: now + 60_000 });
    expect(stateLabel(breakerOnly)).toMatch(/^Paused after errors \(until .*\d/);
    expect(stateDescription(breakerOnly, false)).toMatch(/at .*\d.*Reconnect/);
    const over = { ...breakerOnly, retryAt: now - 1 };
    expect([stateLabel(over), stateDescription(over, false)]).toEqual([
      'Paused after errors',
      expect.stringMatching(/on the next use/),
    ]);
    const down = toServerState({}, { ...well, ...failed, code: 'MCP_UNREACHABLE' }, undefined);
    expect(stateLabel(down)).toMatch(/^Unreachable since .*\d/);
    expect(stateDescription(down, false)).toMatch(/Since .*5 min ago.*retries at/);
    expect([needsAttention(down), needsAttention({ kind: 'idle' })]).toEqual([true, false]);
    // A programmer waits for Retry-After; a person does not.
    expect(describeErrorCode('MCP_BREAKER_OPEN').advice).not.toContain('Retry-After');
    expect(describeErrorCode('MCP_PROTOCOL_ERROR')).toEqual({
      title: 'The server violated the MCP protocol',
      advice: 'Report it to the maintainers of the server.',
    });
    expect(describeErrorCode('SOMETHING_NEW').title).toBe('Unreachable');
  });

  test('where it comes from depends on who looks', () => {
    expect(serverOrigin({ source: 'yaml' }, 'ada', 'connected')).toBe('configuration');
    expect(serverOrigin({ source: 'config' }, 'ada', 'connected')).toBe('override');
    expect(serverOrigin({ source: 'user', author: 'ada' }, 'ada', 'connected')).toBe('yours');
    expect(serverOrigin({ source: 'user', author: 'eve' }, 'ada', 'connected')).toBe('shared');
    expect(serverOrigin({ source: 'user', author: 'eve' }, 'ada', 'not_shared')).toBe('managed');
  });
});
