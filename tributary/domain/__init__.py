"""The words of Tributary: frozen values and the error tree. Imports nothing else of ours."""
