import { describe, expect, test } from '@jest/globals';
import { formatRemainingTime } from '../../ui/format.ts';
import { applyDecision } from '../session/applyEvent.ts';
import { displayedState, summarizeArguments } from './callSummary.ts';

describe('a card of a call', () => {
  test('has its arguments in one line', () => {
    expect(summarizeArguments({})).toBe('');
    expect(summarizeArguments({ message: 'hi', a: 2, on: false, none: null })).toBe(
      'message: "hi", a: 2, on: false, none: null',
    );
    expect(summarizeArguments({ list: [1], empty: [], nested: { a: 1 } })).toBe(
      'list: […], empty: [], nested: {…}',
    );
    const long = summarizeArguments({
      text: 'x'.repeat(1_000_000),
      ...Object.fromEntries('abcdefgh'.split('').map((n) => [n, 'y'.repeat(30)])),
    });
    expect(long.length).toBeLessThanOrEqual(90);
    expect(long.endsWith('…')).toBe(true);
  });

  test('does not say that something runs for which nobody waits', () => {
    expect(displayedState('running', true)).toBe('running');
    expect(displayedState('running', false)).toBe('cancelled');
    expect(displayedState('waiting', false)).toBe('cancelled');
    expect(displayedState('done', false)).toBe('done');
  });

  test('follows the word of its user, and not when it has ended meanwhile', () => {
    const call = { callId: 'c', server: 's', serverTitle: 'S', tool: 't', arguments: {} };
    const waiting = { call: { ...call, state: 'waiting' as const }, expiresAt: 1 };
    expect(applyDecision(waiting, true)).toEqual({ call: { ...call, state: 'running' } });
    expect(applyDecision(waiting, false)).toEqual({ call: { ...call, state: 'denied' } });
    const done = { call: { ...call, state: 'done' as const, result: { content: [] } } };
    expect(applyDecision(done, true)).toBe(done);
  });

  test('counts down', () => {
    expect(formatRemainingTime(125_000)).toBe('2:05');
    expect(formatRemainingTime(400)).toBe('0:01');
    expect(formatRemainingTime(-5)).toBe('0:00');
  });
});
