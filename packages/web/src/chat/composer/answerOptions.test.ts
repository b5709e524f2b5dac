import { describe, expect, test } from '@jest/globals';
import {
  chooseModel,
  parseExcludedServers,
  parseModelChoice,
  selectRequestedServers,
  setServerIncluded,
} from './answerOptions.ts';

const offered = {
  endpoints: [
    { name: 'Empty', models: [] },
    { name: 'Local', models: ['a', 'b'] },
    { name: 'Cloud', models: ['a'] },
  ],
};

describe('the model that answers', () => {
  test('is the one chosen before, while it is offered, and else the first', () => {
    expect(chooseModel(offered, { endpoint: 'Cloud', model: 'a' })).toEqual({
      endpoint: 'Cloud',
      model: 'a',
    });
    expect(chooseModel(offered, { endpoint: 'Cloud', model: 'b' })).toEqual({
      endpoint: 'Local',
      model: 'a',
    });
    expect(chooseModel(offered, null)).toEqual({ endpoint: 'Local', model: 'a' });
    expect(chooseModel({ endpoints: [] }, null)).toBeUndefined();
  });

  test('is nothing that somebody else put into the storage', () => {
    for (const stored of [null, 'x', 1, [], { endpoint: 1, model: 'a' }, { endpoint: 'a' }])
      expect(parseModelChoice(stored)).toBeNull();
    expect(parseModelChoice({ endpoint: 'e', model: 'm', more: 1 })).toEqual({ endpoint: 'e', model: 'm' });
  });
});

describe('the servers whose tools the model sees', () => {
  test('are all, unless some are left out; a new one is not left out', () => {
    expect(selectRequestedServers(['a', 'b'], [])).toBeUndefined();
    expect(selectRequestedServers(['a', 'b'], ['gone'])).toBeUndefined();
    expect(selectRequestedServers(['a', 'b', 'new'], ['b'])).toEqual(['a', 'new']);
    expect(selectRequestedServers(['a'], ['a'])).toEqual([]);
  });

  test('are ticked one by one', () => {
    expect(setServerIncluded(['a'], 'b', false)).toEqual(['a', 'b']);
    expect(setServerIncluded(['a', 'b'], 'b', false)).toEqual(['a', 'b']);
    expect(setServerIncluded(['a', 'b'], 'a', true)).toEqual(['b']);
    expect(parseExcludedServers(['a', 1, null])).toEqual(['a']);
    expect(parseExcludedServers({})).toEqual([]);
  });
});
