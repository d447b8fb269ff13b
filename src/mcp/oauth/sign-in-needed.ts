/** Thrown where only a person can go on: by signing in. */
export class SignInNeeded extends Error {}
