import { describe, expect, test } from '@jest/globals';
import { sectionPath, findSection, sections } from './sections.ts';

describe('pages of the administration', () => {
  test('have addresses that lead back to them', () => {
    for (const section of sections) {
      const [, name] = /^\/admin\/?(.*)$/.exec(sectionPath(section)) ?? [];
      expect(findSection(name === '' ? undefined : name)).toBe(section);
    }
    expect(findSection('nothing')).toBeUndefined();
  });
});
