import { errorKinds, type ErrorCode } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { GatewayError } from './gatewayError.ts';

describe('GatewayError', () => {
  test('every code says what happened and what to do', () => {
    for (const code of Object.keys(errorKinds) as ErrorCode[]) {
      const error = new GatewayError(code);
      expect(error).toBeInstanceOf(Error);
      expect(error.code).toBe(code);
      expect(error.detail).toContain(errorKinds[code].title);
      expect(error.detail).toContain(errorKinds[code].action);
    }
  });

  test('what caused it is not among the words for the caller', () => {
    const error = new GatewayError('AUTH_FAILED', { cause: new Error('pl4nted secret') });
    expect(error.cause).toBeInstanceOf(Error);
    expect(JSON.stringify(error)).not.toContain('pl4nted');
    expect(`${error.message} ${error.detail}`).not.toContain('pl4nted');
  });
});
