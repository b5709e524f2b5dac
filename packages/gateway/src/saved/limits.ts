export const LONGEST_PAGE = 100;
