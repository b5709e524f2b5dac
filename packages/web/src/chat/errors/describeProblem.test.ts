import { describe, expect, test } from '@jest/globals';
import { strings } from '../../strings/strings.ts';
import { describeProblem } from './describeProblem.ts';

describe('what went wrong', () => {
  test('is not said twice', () => {
    const problem = {
      code: 'MODEL_REFUSED',
      title: 'The model API rejected the request',
      detail:
        'The model API rejected the request. The model API returned status 401. Ask the operator to check the key, the model and the limits of endpoints.custom.',
    };
    expect(describeProblem(problem)).toEqual({
      text: 'The model API returned status 401.',
      advice: strings.chat.trouble.modelRefused,
    });
    const silent = { code: 'MCP_TIMEOUT', title: 'Too late', detail: 'Too late' };
    expect(describeProblem(silent).text).toBe('');
    expect(describeProblem(silent).advice).not.toBe('');
  });

  test('is what the gateway says where nothing is known about it', () => {
    const problem = { code: 'LATER_CODE', title: 'New', detail: 'Something new happened.' };
    expect(describeProblem(problem)).toEqual({ text: 'Something new happened.', advice: '' });
  });
});
