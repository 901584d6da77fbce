"""What holds at loop heads: candidates by the dozen, and the largest set of them that the program keeps."""
