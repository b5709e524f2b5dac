import type { Problem } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from './apiError.ts';
import { fieldError, isAboutFields } from './fieldErrors.ts';

const refused = (...paths: string[]) =>
  new ApiError({
    ...{ code: 'REQUEST_INVALID', status: 400, title: 'not valid', detail: '' },
    problem: { errors: paths.map((path) => ({ path, code: 'c', message: `wrong ${path}` })) } as Problem,
  });

describe('errors at fields', () => {
  test('stand at the field they name', () => {
    expect(fieldError(refused('name'), 'name')).toBe('Wrong name.');
    expect(fieldError(refused('name'), 'days')).toBeUndefined();
    expect(fieldError(new Error('other'), 'name')).toBeUndefined();
  });

  test('are said elsewhere unless all of them have a field', () => {
    expect(isAboutFields(refused('name'), ['name'])).toBe(true);
    expect(isAboutFields(refused('name', 'x'), ['name'])).toBe(false);
    expect(isAboutFields(refused(), ['name'])).toBe(false);
    expect(isAboutFields(null, ['name'])).toBe(false);
  });
});
