import { describe, expect, test } from '@jest/globals';
import { sectionAddress, sectionNamed, sections } from './sections.ts';

describe('pages of the administration', () => {
  test('have addresses that lead back to them', () => {
    for (const section of sections) {
      const [, name] = /^\/admin\/?(.*)$/.exec(sectionAddress(section)) ?? [];
      expect(sectionNamed(name === '' ? undefined : name)).toBe(section);
    }
    expect(sectionNamed('nothing')).toBeUndefined();
  });
});
