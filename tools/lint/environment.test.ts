import { expect, test } from '@jest/globals';
import { Linter } from 'eslint';
import { restrictedEnvironment } from './environment.mjs';

test.each([
  'const port = process.env.PORT;',
  "const port = process['env'].PORT;",
  'const { env: e } = process;',
  "const e = globalThis.process['env'];",
])('rejects %s', (code) => {
  const rules: Linter.RulesRecord = { 'no-restricted-properties': ['error', ...restrictedEnvironment] };
  const messages = new Linter().verify(code, [{ rules }]);
  expect(messages.map(({ ruleId }) => ruleId)).toEqual(['no-restricted-properties']);
});
