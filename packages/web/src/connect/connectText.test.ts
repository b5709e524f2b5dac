import type { FlowError } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../api/request.ts';
import { describeConnectState, describeSignInReason } from './connectState.ts';

describe('what is said of a sign-in', () => {
  test('while it goes on, and how it ended', () => {
    const address = 'https://behalf.example/x';
    expect(describeConnectState({ kind: 'idle' })).toBeUndefined();
    expect(describeConnectState({ kind: 'starting' })?.title).toBe('Connecting…');
    const waiting = (window: 'open' | 'away' | 'blocked') =>
      describeConnectState({ kind: 'waiting', address, window });
    expect(waiting('open')?.text).not.toMatch(/reopen it/);
    expect(waiting('away')?.text).toMatch(/closed that window, reopen it/);
    expect([waiting('blocked')?.tone, waiting('blocked')?.title]).toEqual([
      'warning',
      'Your browser blocked the sign-in window',
    ]);
    expect(describeConnectState({ kind: 'connected', at: 1, probe: 'ok' })).toMatchObject({
      tone: 'success',
    });
    expect(describeConnectState({ kind: 'connected', at: 1, probe: 'unverified' })?.text).toMatch(
      /could not be verified/,
    );
    expect(describeConnectState({ kind: 'connected', at: 1, probe: 'unreachable' })).toMatchObject({
      tone: 'warning',
    });
    expect(describeConnectState({ kind: 'failed', error: 'access_denied' })).toMatchObject({
      tone: 'danger',
      title: 'Access was denied',
    });
  });

  test('also by a gateway that knows more words than this page', () => {
    for (const error of ['something_new', 'toString', '__proto__']) {
      expect(describeConnectState({ kind: 'failed', error: error as FlowError })?.title).toBe(
        'The sign-in could not be completed',
      );
      expect(describeSignInReason(error)).toBe('');
    }
    const error = new ApiError({ code: 'MCP_FLOW_LIMIT', status: 429, title: 'Too many', detail: 'Wait.' });
    expect(describeConnectState({ kind: 'refused', error })).toEqual({
      tone: 'danger',
      title: 'Too many',
      text: 'Wait.',
    });
  });
});
