import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { HiddenText } from './secrets.ts';

test('only who asks for it gets it', () => {
  const hidden = new HiddenText('planted');
  const holder = { hidden, list: [hidden] };
  expect(hidden.reveal()).toBe('planted');
  const shown = [
    JSON.stringify(holder),
    inspect(holder, { depth: 9, showHidden: true }),
    String(hidden),
    JSON.stringify(Object.entries(hidden)),
    JSON.stringify(Object.assign({}, hidden)),
  ];
  expect(shown.join()).not.toContain('planted');
});
