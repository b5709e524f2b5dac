import type { Mutant } from '../mutants.ts';

export const stores: readonly Mutant[] = [];
